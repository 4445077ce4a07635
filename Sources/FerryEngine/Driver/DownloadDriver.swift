package import FerryCore
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Runs one download: executes the commands of ``TransferMachine`` on the transfer, the disk and the journal.
///
/// ```
/// Preparation ─► tick: open, cut, checkpoint ─► verify ─► publish
///                 │ each connection: next? ─► fetch ─► head? ─► place, write, place, write…
/// ```
///
/// It owns no state: ``Transfer`` owns the state of the file while it is fetched, ``Target`` its name and the files that it
/// replaces, and a ``Sink`` its bytes. Invariants: ``TransferMachine`` makes every decision; every task is in ``RunTasks`` and is
/// awaited before `run()` returns; ``lock`` makes checkpoints, spilling and replacing the part file mutually exclusive.
/// A crash at any moment leaves a published file, or a part file whose journal claims only bytes on the disk.
package final class DownloadDriver: Sendable {
    package enum Outcome: Sendable {
        case completed(FinishedDownload)
        /// Stopped by ``stop(_:)`` or a cancelled task; the partial content is kept.
        case stopped
        case cancelled
        case failed(DownloadError)
    }

    package enum Stop: Sendable, Hashable {
        /// Writes a checkpoint and ends; the partial content is kept.
        case pause
        /// Ends and deletes the partial content.
        case cancel
    }

    /// A report to the manager.
    package enum Report: Sendable {
        case event(LocalizedEvent)
        case state(DownloadState)
        /// The download waits for its next attempt.
        case backsOff(until: Date, after: DownloadError)
        /// The download waits because a server accepts no request before this time.
        case held(until: Date, reason: DownloadError)
        case named(name: String, path: String?)
    }

    let id: DownloadID
    let request: DownloadRequest
    let environment: EngineEnvironment
    /// The access to the file system, confined to the request's root, if any, and to the directory of kept copies.
    let files: FileIO
    let settings: DriverSettings
    let context: RunContext
    /// Recognizes which files on the disk belong to this download.
    let own: OwnFiles
    let report: @Sendable (Report) -> Void
    let updates = AsyncEvent()
    let checkpointDone = AsyncEvent()
    /// Notifies when bytes that a reader waits for are written, and when the state of the run may have changed.
    let contentChanges = AsyncEvent()
    let lock = AsyncLock()
    let throttle: Throttle
    private let readLimit: ReadLimit
    let transfer: Transfer
    let target: Target
    let tasks = RunTasks()
    /// The executor of decisions and small bodies.
    let loop: (any TaskExecutor)?

    /// Prepares a run; nothing happens before ``run()``. `report` is called from any thread and must not block;
    /// `loop` is the executor of decisions and small bodies, by default one of the environment's.
    package init(
        id: DownloadID, request: DownloadRequest, environment: EngineEnvironment, settings: DriverSettings,
        context: RunContext = RunContext(), loop: (any TaskExecutor)? = nil,
        report: @escaping @Sendable (Report) -> Void
    ) {
        self.id = id
        var request = request
        // The run refuses an unusable destination.
        if let resolved = try? request.destination.resolved() { request.destination = resolved }
        self.request = request
        self.environment = environment
        files = environment.files.confined(to: request.root, and: request.keptCopy?.directory)
        self.settings = settings.with(request)
        self.context = context
        own = OwnFiles(id: id, request: request, context: context)
        self.report = report
        self.loop = loop ?? environment.loop()
        throttle = Throttle(rate: request.rateLimit, clock: environment.clock)
        readLimit = ReadLimit(throttle, environment)
        transfer = Transfer(request, context, environment)
        target = Target(name: request.expectedName)
    }

    /// The file that this run has published, as it was right after publication; `nil` if there is none.
    package var publishedFile: PublishedFile? { target.published }

    /// Returns the progress; cheap enough to call at any time. `nil` before existing files have been examined.
    package func progress() -> DownloadProgress? {
        transfer.progress(at: environment.clock.now(), connectionLimit: environment.hosts.limit)
    }

    /// The bytes that this run has received so far.
    package var receivedBytes: ByteCount { transfer.receivedBytes }

    /// Returns the current snapshot; `nil` before existing files have been examined.
    package func picture() -> TransferPicture? { transfer.picture() }

    /// Requests the end of the run, which returns ``Outcome/stopped`` or ``Outcome/cancelled`` after its final
    /// checkpoint or cleanup.
    package func stop(_ stop: Stop) {
        transfer.stopRequested(stop)
        updates.notify()
    }

    /// Runs the download until it ends or is stopped. Must be called only once.
    @concurrent package func run() async -> Outcome {
        let start = environment.clock.now()
        let outcome: Outcome
        do throws(DownloadError) {
            let existing = try await begin()
            let end: Outcome = if let existing { .completed(existing) } else { try await fetch() }
            if case .completed(let file) = end {
                if file.wasAlreadyComplete {
                    await putBack()
                } else {
                    environment.metrics.completed(in: environment.clock.now() - start)
                }
                outcome = .completed(await recordExisting(file))
            } else {
                outcome = end
            }
        } catch {
            switch transfer.stop {
            case .pause: outcome = .stopped
            case .cancel: outcome = .cancelled
            case nil: outcome = .failed(error)
            }
        }
        if case .cancelled = outcome {
            await abortUpload()
            await files.run { [self] in discard($0) }
        }
        await close()
        transfer.ended()
        updates.notify()
        wakeReaders()
        return outcome
    }

    private func fetch() async throws(DownloadError) -> Outcome {
        environment.ticker.add(updates)
        readLimit.begin()
        defer {
            environment.ticker.remove(updates)
            readLimit.end()
        }
        let digest = DigestFollower(self)
        let result: Result<Outcome, DownloadError>
        do throws(DownloadError) { result = .success(try await execute(digest)) } catch { result = .failure(error) }
        await drain()
        await digest.stop()
        environment.metrics.received(transfer.takeReceivedBytes())
        return try result.get()
    }

    /// Runs the command loop, which owns every task of this download.
    private func execute(_ digest: DigestFollower) async throws(DownloadError) -> Outcome {
        while true {
            let seen = updates.count
            let now = environment.clock.now()
            if transfer.isObservationDue(at: now) { await observe(at: now) }
            transfer.makeRoom(at: now) { environment.hosts.isCrowded(host(of: $0)) }
            let tick = transfer.tick(at: now)
            let existing = target.existing
            await announce(at: now)
            wakeReaders()
            if let existing { return .completed(existing) }
            if tick.stop != nil || Task.isCancelled { return await leave(tick.stop ?? .pause) }
            if let damage = tick.damage {
                await mend(damage)
                continue
            }
            for command in tick.commands {
                switch command {
                case .open(let connection): open(connection)
                case .cut(let connection): tasks.cancel(connection)
                case .checkpoint:
                    // owner: tasks, awaited in drain.
                    tasks.set(checkpoint: Task(executorPreference: loop) { _ = await self.checkpoint() })
                case .fail(let error):
                    await drain()
                    let holdsBytes = transfer.facts.writtenBytes > 0
                    let reason = tick.error ?? transfer.refusal?.explained(error, holdsBytes: holdsBytes) ?? error
                    await keep(after: reason)
                    throw ofStream(reason)
                case .finish:
                    await drain()
                    if let finished = try await finish(digest) { return .completed(finished) }
                }
            }
            digest.follow()
            await spillIfSlow(at: now)
            await checkFloor(at: now)
            await updates.wait(after: seen)
        }
    }

    /// Returns the error. If the bytes went into a stream, replaces a suggestion that assumes they were kept.
    private func ofStream(_ error: DownloadError) -> DownloadError {
        guard case .stream = request.destination else { return error }
        let hasWritten = transfer.facts.writtenBytes > 0
        switch error.suggestionPhrase?.key {
        // The failed write may have written a part of the bytes.
        case .makeRoom: return error.suggesting(ErrorPhrase(.doNotUse))
        case .giveCredentials where hasWritten, .giveField where hasWritten, .giveFreshLink where hasWritten,
            .giveTargetLink where hasWritten,
            .signInAgain where hasWritten, .runAgain where hasWritten, .runAnew where hasWritten:
            return error.suggesting(ErrorPhrase(.doNotUse))
        default: return error
        }
    }

    /// Cancels all connections, and waits for them and the checkpoint in progress.
    func drain() async {
        await tasks.drain()
        transfer.drained()
    }

    /// Keeps the partial content for another run: moves a small file to disk and claims everything written.
    ///
    /// - Parameter end: The error that ends the run; a checkpoint that fails with the same error is not reported.
    private func keep(after end: DownloadError? = nil) async {
        do throws(DownloadError) {
            try await spill()
        } catch {
            report(.event(.note(Reason(.memoryLost, error.reason))))
        }
        if let error = await checkpoint(), error.message != end?.message {
            let isDamaged = error.suggestionPhrase?.key == .continueWithRest
            report(.event(.note(isDamaged ? error.reason : Reason(.checkpointLost, error.reason))))
        }
    }

    private func leave(_ stop: Stop) async -> Outcome {
        await drain()
        switch stop {
        case .pause:
            await keep()
            await announce(at: environment.clock.now())
            return .stopped
        case .cancel: return .cancelled
        }
    }

    /// Reports the machine's events.
    private func announce(at now: Duration) async {
        let date = environment.clock.date()
        let (events, received, hold) = transfer.takeNews(at: date)
        // Counted here, once for many pieces.
        environment.metrics.received(received)
        for event in events {
            report(.event(event))
            guard case .retrying(_, let delay, let words) = event.kind else { continue }
            transfer.backsOff()
            let error = DownloadError(.network, event.reason ?? .words(words), recovery: .transient(retryAfter: nil))
            report(.backsOff(until: date.addingTimeInterval(delay.seconds), after: error))
            // After an interrupted connection a small file moves to disk, so that its bytes survive a killed process.
            await spillNow()
        }
        if let hold {
            transfer.backsOff()
            let until = date.addingTimeInterval((hold.until - environment.clock.now()).seconds)
            let error = DownloadError(.network, hold.reason, recovery: .transient(retryAfter: nil))
            report(.held(until: until, reason: error))
            await spillNow()
        }
    }

    /// Ends the run with an error that did not come from the machine.
    func fail(_ error: DownloadError) {
        transfer.failed(error)
        updates.notify()
    }
}

/// Settings that can change during the run; before the run they act as initial values.
extension DownloadDriver {
    /// Closes all connections and retries at once, because the network path changed. Does not count as a failed attempt.
    package func reconnect() {
        tryServersNow()
        transfer.reconnect()
    }

    /// Ends a back-off and retries at once.
    package func retryNow() {
        // Called first, because the next request follows immediately.
        tryServersNow()
        transfer.retryNow()
    }

    private func tryServersNow() {
        // allow(origin): the health of a server; carries no secret.
        let origins = Set(transfer.sources.map(\.origin))
        environment.book.tryNow { origins.contains($0) }
        updates.notify()
    }

    /// Changes the maximum number of connections, at least 1. A stream always uses one connection.
    package func set(maxConnections: Int) {
        if case .stream = request.destination { return }
        transfer.set(maxConnections: maxConnections)
        updates.notify()
    }

    /// Changes this download's rate limit, in bytes per second; `nil` for none.
    package func set(rateLimit: ByteCount?) {
        throttle.set(rate: rateLimit)
        readLimit.changed()
    }

    /// Changes the list entry's tags in the journal, from the next checkpoint on.
    package func set(tags: JournalTags) { transfer.set(tags: tags) }

    /// Marks the download as paused by its user in the journal, from the next checkpoint on.
    package func tagPaused() { transfer.tagPaused() }

    /// The retry counters for the next run of this download; see ``RunContext/retries``.
    package var retries: RetryMemory { transfer.retries ?? context.retries ?? RetryMemory() }

    /// Ends an observation of about a second, from which the machine judges what limits the speed.
    private func observe(at now: Duration) async {
        let limits = [throttle.rate, context.throttle?.rate, environment.throttle.rate]
        let processor = await environment.processor?.facts(environment.files)
        transfer.observed(processor, rateLimit: limits.compactMap(\.self).min(), at: now)
    }
}
