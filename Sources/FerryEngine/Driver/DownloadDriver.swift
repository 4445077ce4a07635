package import FerryCore
import Foundation
import Synchronization
import SystemPackage

/// Runs one download: executes the commands of ``TransferMachine`` by means of Transfer, Disk and Journal.
///
/// ```
/// look for existing files ─► tick: open, cut, checkpoint ─► verify ─► publish
///                                   │ each connection: next? ─► fetch ─► head? ─► place, write, place, write…
/// ```
///
/// Invariants: ``TransferMachine`` makes every decision, under one lock; every connection task is in `tasks` and is
/// awaited before `run()` returns; a range enters the journal only after a sync that began after its write returned;
/// checkpoints, spilling and replacing the part file exclude each other by ``lock``. Lock order: `state` before the
/// storage's lock, never the reverse; neither is held while `report` is called.
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
        case named(name: String, path: String?)
    }

    struct State {
        var machine: TransferMachine
        var meter = SpeedMeter()
        var stop: Stop?
        var tasks: [ConnectionID: Task<Void, Never>] = [:]
        /// The final URLs of redirects, by source.
        var resolved: [Int: DownloadURL] = [:]
        var finalURL: DownloadURL?
        var contentType: String?
        var fatal: DownloadError?
        /// The existing file that satisfies the request.
        var existing: FinishedDownload?
        /// The file's name, final or expected.
        var name: String
        /// The URLs: first the source, then its mirrors.
        var sources: [DownloadURL]
        var startedAt: Duration?
        var missingNames: Int
        var maxConnections: Int
        var tags: JournalTags?
        var record: JournalRecord?
        var checksum: Checksum?
        /// The file with the final name was never synced, and the system has rebooted since.
        var distrustsFinished = false
        /// The paths that this download owned before its pair became the backup.
        var ownPaths: DownloadPaths?
        /// The paths of the backup that an interrupted run of this download left.
        var ownAside: DownloadPaths?
        /// The download id in the backup's journal.
        var asideID: String?
        /// The file that a journal says is published, while that is being verified.
        var finishedPath: FilePath?
        /// The index into `sources` of the source that sent the validators of `record`.
        var primary = 0
        /// The digest of the whole file that the server offered to an earlier run.
        var offered: Checksum?
        var isPrepared = false
        /// Whether the machine has switched to a new representation, and the storage has not.
        var isReplacing = false
        /// The values of the last ``DownloadEvent/Kind/started(name:totalBytes:)`` event.
        var started: (name: String, totalBytes: ByteCount?)?
        var isBackingOff = false
        var isTransferring = false
        /// Whether the environment counts this download's limit when it chooses the read sizes.
        var hasLimit = false
        var checkpoint: Task<Void, Never>?
        /// The EIO of a write or sync: the part file is to be reopened, and unclaimed ranges are fetched again.
        var damage: DownloadError?
        var hasReopened = false
        /// Whether a sync failed, so that no unclaimed byte is trusted.
        var distrustsUnclaimed = false
        /// The number of retractions; a digest that read bytes before the last one is invalid.
        var timesForgotten = 0
        var lastSpaceCheck: Duration?
        /// For a file of unknown length: the number of written bytes at which the free space is checked again.
        var roomUntil: ByteCount = 0
    }

    let id: DownloadID
    let request: DownloadRequest
    let environment: EngineEnvironment
    /// The file system, confined to the request's root if it has one.
    let fileSystem: any FileSystem
    let settings: DriverSettings
    let context: RunContext
    let report: @Sendable (Report) -> Void
    let storage = Storage()
    let updates = AsyncEvent()
    let checkpointDone = AsyncEvent()
    let lock = AsyncLock()
    let throttle: Throttle
    let state: Mutex<State>
    /// The executor that ``run()`` must be called on.
    package let light: (any TaskExecutor)?

    /// Prepares a run; nothing happens before ``run()``. `report` is called from any thread and must not block;
    /// `light` is the executor that ``run()`` will be called on, by default one of the environment's.
    package init(
        id: DownloadID, request: DownloadRequest, environment: EngineEnvironment, settings: DriverSettings,
        context: RunContext = RunContext(), light: (any TaskExecutor)? = nil,
        report: @escaping @Sendable (Report) -> Void
    ) {
        self.id = id
        var request = request
        // An unusable destination is refused by the run.
        if let resolved = try? request.destination.resolved() { request.destination = resolved }
        self.request = request
        self.environment = environment
        fileSystem = environment.fileSystem(within: request.root)
        self.settings = settings
        self.context = context
        self.report = report
        self.light = light ?? environment.light()
        throttle = Throttle(rate: request.rateLimit, clock: environment.clock)
        var name = request.sources.first.map { SafeName.make(nil, url: $0, finalURL: nil) } ?? ""
        if case .file(let path) = request.destination, let last = FilePath(path).lastComponent { name = last.string }
        state = Mutex(
            State(
                machine: TransferMachine(settings: TransferMachine.Settings()), name: name,
                sources: request.sources, missingNames: context.retries?.missingNames ?? 0,
                maxConnections: max(1, request.maxConnections), tags: context.tags, checksum: request.checksum))
    }

    var sources: [DownloadURL] { state.withLock { $0.sources } }

    /// Returns the progress; cheap enough to call at any time. `nil` before existing files have been examined.
    package func progress() -> DownloadProgress? {
        let now = environment.clock.now()
        return state.withLock { state in
            guard state.isPrepared else { return nil }
            let machine = state.machine
            let done = machine.planner.writtenBytes
            let total = machine.planner.total
            return DownloadProgress(
                completedBytes: done, totalBytes: total, bytesPerSecond: state.meter.bytesPerSecond(at: now),
                timeRemaining: total.flatMap { state.meter.timeRemaining(remaining: $0 - done, at: now) },
                connections: machine.activeConnections)
        }
    }

    /// Requests the end of the run, which returns ``Outcome/stopped`` or ``Outcome/cancelled`` after its final
    /// checkpoint or cleanup.
    package func stop(_ stop: Stop) {
        state.withLock { state in
            if state.stop != .cancel { state.stop = stop }
        }
        updates.notify()
    }

    /// Runs the download until it ends or is stopped. Must be called once only.
    package func run() async -> Outcome {
        let outcome: Outcome
        do throws(DownloadError) {
            if let finished = try await prepare() {
                outcome = .completed(finished)
            } else {
                outcome = try await transfer()
            }
        } catch {
            switch stopWanted {
            case .pause: outcome = .stopped
            case .cancel: outcome = .cancelled
            case nil: outcome = .failed(error)
            }
        }
        if case .cancelled = outcome { discard() }
        storage.close()
        return outcome
    }

    /// Runs file calls and bulk data transfers off the event loops.
    func heavily<T: Sendable>(_ body: () async throws(DownloadError) -> T) async throws(DownloadError) -> T {
        try await withTaskExecutorPreference(environment.executor) { () async throws(DownloadError) -> T in
            try await body()
        }
    }

    var stopWanted: Stop? { state.withLock { $0.stop } }

    private func transfer() async throws(DownloadError) -> Outcome {
        environment.metronome.add(updates)
        state.withLock { state in
            state.isTransferring = true
            note(limit: throttle.rate, &state)
        }
        defer {
            environment.metronome.remove(updates)
            state.withLock { state in
                state.isTransferring = false
                note(limit: nil, &state)
            }
        }
        let digest = DigestFollower(self)
        let result: Result<Outcome, DownloadError>
        do throws(DownloadError) { result = .success(try await loop(digest)) } catch { result = .failure(error) }
        await drain()
        await digest.stop()
        return try result.get()
    }

    /// Runs the command loop, which owns every task of this download.
    private func loop(_ digest: DigestFollower) async throws(DownloadError) -> Outcome {
        while true {
            let seen = updates.count
            let now = environment.clock.now()
            let (commands, stop, fatal, existing, damage) = state.withLock { state in
                if let fatal = state.fatal { state.machine.end(fatal) }
                let damage = state.damage
                // Commands issued before the part file is reopened would be lost.
                let commands = damage == nil ? state.machine.tick(at: now) : []
                return (commands, state.stop, state.fatal, state.existing, damage)
            }
            await announce(at: now)
            if let existing { return .completed(existing) }
            if stop != nil || Task.isCancelled { return await leave(stop ?? .pause) }
            if let damage {
                await mend(damage)
                continue
            }
            for command in commands {
                switch command {
                case .open(let connection): open(connection)
                case .cut(let connection): state.withLock { $0.tasks[connection] }?.cancel()
                case .checkpoint:
                    // owner: state.checkpoint, awaited in drain.
                    let task = Task(executorPreference: light) { _ = await self.checkpoint() }
                    state.withLock { $0.checkpoint = task }
                case .fail(let error):
                    await drain()
                    await keep()
                    throw fatal ?? error
                case .finish:
                    await drain()
                    if let finished = try await finish(digest) { return .completed(finished) }
                    return await leave(stopWanted ?? .pause)
                }
            }
            digest.follow()
            await spillIfSlow(at: now)
            checkFloor(at: now)
            await updates.wait(after: seen)
        }
    }

    /// Cancels all connections, and waits for them and the checkpoint in progress.
    func drain() async {
        let tasks = state.withLock { Array($0.tasks.values) }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        await state.withLock { $0.checkpoint }?.value
        let now = environment.clock.now()
        state.withLock { state in
            guard state.distrustsUnclaimed else { return }
            state.distrustsUnclaimed = false
            let snapshot = state.machine.beginCheckpoint(at: now)
            state.machine.checkpointEnded(snapshot, succeeded: false, at: now)
        }
    }

    /// Keeps the partial content for another run: moves a small file to disk and claims everything written.
    private func keep() async {
        do throws(DownloadError) {
            try await spill()
        } catch {
            report(.event(.note(Reason(.memoryLost, error.reason))))
        }
        if let error = await checkpoint() {
            report(.event(.note(Reason(.checkpointLost, error.reason))))
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
        let events = state.withLock { state in
            let events = state.machine.drainEvents()
            for event in events { state.record?.append(event.kind, at: date) }
            return events
        }
        for event in events {
            report(.event(event))
            guard case .retrying(_, let delay, _) = event.kind else { continue }
            state.withLock { $0.isBackingOff = true }
            report(.state(.waiting(.retry(at: date.addingTimeInterval(delay.seconds)))))
            // After a broken connection a small file moves to disk, so that a kill cannot lose its bytes.
            await spillNow()
        }
    }

    /// Ends the run with an error that did not come from the machine.
    func fail(_ error: DownloadError) {
        state.withLock { state in
            if state.fatal == nil { state.fatal = error }
        }
        updates.notify()
    }
}
