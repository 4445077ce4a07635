package import FerryCore
import Foundation
import Synchronization
import SystemPackage

/// Brings Transfer, Disk and Journal together for one download: asks the machine, moves the hands.
///
/// ```
/// locate what is ours already ─► tick: open, cut, checkpoint ─► verify ─► publish
///                                  │ each connection: next? ─► fetch ─► head? ─► place, write, place, write…
/// ```
///
/// Invariants: every decision is made by ``TransferMachine`` under one lock; every connection task is in `tasks` and is
/// awaited before `run()` returns; a range enters the journal only after a sync that began after its write returned;
/// checkpoints, spilling and changing the part file take turns. Locks: `state` may be held when the storage's is taken,
/// never the other way round, and neither when something is reported.
/// A crash at any moment leaves a part file with a journal that claims only what is there, or a published file.
package final class DownloadDriver: Sendable {
    /// How a run ended.
    package enum Outcome: Sendable {
        case completed(FinishedDownload)
        /// Stopped by ``stop(_:)`` with what is there kept.
        case stopped
        case cancelled
        case failed(DownloadError)
    }

    package enum Stop: Sendable, Hashable {
        /// Checkpoint and let go; what is there is kept.
        case pause
        /// Delete what is there.
        case cancel
    }

    /// What the manager hears of.
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
        /// Where redirects led, by source.
        var resolved: [Int: DownloadURL] = [:]
        var finalURL: DownloadURL?
        var contentType: String?
        var fatal: DownloadError?
        /// The request turned out to be answered by a file that is there.
        var existing: FinishedDownload?
        /// The name that the file has or will have.
        var name: String
        /// The first is the source, further ones are mirrors.
        var sources: [DownloadURL]
        var startedAt: Duration?
        var missingNames: Int
        var maxConnections: Int
        var tags: JournalTags?
        var record: JournalRecord?
        var checksum: Checksum?
        /// What has the final name was never synced, and the system has been started anew since.
        var distrustsFinished = false
        /// The name that this download had taken before what it held was put aside.
        var ownPaths: DownloadPaths?
        /// The name beside which an earlier run of this download put its pair aside, and was cut.
        var ownAside: DownloadPaths?
        /// The id in the journal that was put aside.
        var asideID: String?
        /// The finished file of which a journal said that it is published, which is being proven.
        var finishedPath: FilePath?
        /// Where the validators of `record` come from; an index into `sources`.
        var primary = 0
        /// The digest that the server had offered with what an earlier run left.
        var offered: Checksum?
        var isPrepared = false
        /// The machine knows of another file than the one that the storage has a place for.
        var isReplacing = false
        /// What ``DownloadEvent/Kind/started(name:totalBytes:)`` said last.
        var started: (name: String, totalBytes: ByteCount?)?
        var isBackingOff = false
        var isTransferring = false
        /// Its limit counts for the size of what is taken in at once.
        var hasLimit = false
        var checkpoint: Task<Void, Never>?
        /// A write or sync failed with EIO: reopen, and fetch again what is not claimed.
        var damage: DownloadError?
        var hasReopened = false
        /// A sync failed: nothing that is not claimed may be believed.
        var distrustsUnclaimed = false
        /// How often claims were taken back: a digest that had read those bytes is of no use.
        var timesForgotten = 0
        var lastSpaceCheck: Duration?
        /// Of a file of unknown length so many bytes may be there before the space is looked at again.
        var roomUntil: ByteCount = 0
    }

    let id: DownloadID
    let request: DownloadRequest
    let environment: EngineEnvironment
    /// Held to the root that the request may not leave.
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
    /// Where ``run()`` belongs.
    package let light: (any TaskExecutor)?

    /// Prepares a run; nothing is done before ``run()``. `report` is called from any thread and must not block; `light` is
    /// where ``run()`` will be called, by default one of the environment's.
    package init(
        id: DownloadID, request: DownloadRequest, environment: EngineEnvironment, settings: DriverSettings,
        context: RunContext = RunContext(), light: (any TaskExecutor)? = nil,
        report: @escaping @Sendable (Report) -> Void
    ) {
        self.id = id
        var request = request
        // One that cannot be used is refused by the run.
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

    /// How far it is; cheap, may be asked at any time. `nil` before it is known what is there already.
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

    /// Asks the run to end; it ends with ``Outcome/stopped`` or ``Outcome/cancelled`` once what must be safe is.
    package func stop(_ stop: Stop) {
        state.withLock { state in
            if state.stop != .cancel { state.stop = stop }
        }
        updates.notify()
    }

    /// Runs to the end, or until it is stopped. Called once.
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

    /// Runs what calls the disk much, or moves much data, off the event loops.
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

    /// The loop that owns every task of this download.
    private func loop(_ digest: DigestFollower) async throws(DownloadError) -> Outcome {
        while true {
            let seen = updates.count
            let now = environment.clock.now()
            let (commands, stop, fatal, existing, damage) = state.withLock { state in
                if let fatal = state.fatal { state.machine.end(fatal) }
                let damage = state.damage
                // What the machine commands before the damage is mended would be lost.
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

    /// Ends every connection and waits for what is under way.
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

    /// Keeps what is there for another run: a small file moves to the disk, everything written is claimed.
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

    /// Hands the machine's events on.
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
            // Its connection broke: a small file moves to the disk, where a kill cannot reach it.
            await spillNow()
        }
    }

    /// Stops everything with an error that is not the machine's.
    func fail(_ error: DownloadError) {
        state.withLock { state in
            if state.fatal == nil { state.fatal = error }
        }
        updates.notify()
    }
}
