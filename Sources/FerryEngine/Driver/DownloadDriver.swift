package import FerryCore
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
/// awaited before `run()` returns; a range enters the journal only after a sync that began after its write returned.
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
        case event(DownloadEvent.Kind)
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
        var missingNames = 0
        var record: JournalRecord?
        var checksum: Checksum?
        /// The name that this download had taken before what it held was put aside.
        var ownPaths: DownloadPaths?
    }

    let id: DownloadID
    let request: DownloadRequest
    let environment: EngineEnvironment
    let settings: DriverSettings
    let report: @Sendable (Report) -> Void
    let storage = Storage()
    let bell = Signal()
    let checkpointDone = Signal()
    let throttle: Throttle
    let state: Mutex<State>

    /// Prepares a run; nothing is done before ``run()``. `report` is called from any thread and must not block.
    package init(
        id: DownloadID, request: DownloadRequest, environment: EngineEnvironment, settings: DriverSettings,
        report: @escaping @Sendable (Report) -> Void
    ) {
        self.id = id
        self.request = request
        self.environment = environment
        self.settings = settings
        self.report = report
        throttle = Throttle(rate: request.rateLimit, clock: environment.clock)
        let name = request.sources.first.map { SafeName.make(nil, url: $0, finalURL: nil) } ?? ""
        state = Mutex(
            State(
                machine: TransferMachine(settings: TransferMachine.Settings()), name: name,
                sources: request.sources, checksum: request.checksum))
    }

    var sources: [DownloadURL] { state.withLock { $0.sources } }

    /// How far it is; cheap, may be asked at any time.
    package func progress() -> DownloadProgress {
        let now = environment.clock.now()
        return state.withLock { state in
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
        bell.ring()
    }

    /// Changes this download's own limit at once; `nil` for none.
    package func set(rateLimit: ByteCount?) { throttle.set(rate: rateLimit) }

    /// Runs to the end, or until it is stopped. Called once.
    package func run() async -> Outcome {
        do throws(DownloadError) {
            if let finished = try await prepare() { return .completed(finished) }
            return try await transfer()
        } catch {
            storage.close()
            return stopped() ?? .failed(error)
        }
    }

    private func stopped() -> Outcome? {
        switch state.withLock({ $0.stop }) {
        case .pause: .stopped
        case .cancel: .cancelled
        case nil: nil
        }
    }

    /// The loop that owns every task of this download.
    private func transfer() async throws(DownloadError) -> Outcome {
        // owner: this function, which cancels it.
        let ticker = Task(executorPreference: environment.executor) { [clock = environment.clock, bell] in
            while !Task.isCancelled {
                try? await clock.sleep(for: TransferMachine.tickInterval)
                bell.ring()
            }
        }
        defer { ticker.cancel() }
        var checkpoint: Task<Void, Never>?
        let digest = DigestFollower(self)
        while true {
            let now = environment.clock.now()
            let (commands, stop, fatal, existing) = state.withLock { state in
                if let fatal = state.fatal { state.machine.end(fatal) }
                return (state.machine.tick(at: now), state.stop, state.fatal, state.existing)
            }
            announce()
            if let existing {
                await drain(checkpoint, digest)
                storage.close()
                return .completed(existing)
            }
            if stop != nil || Task.isCancelled {
                await drain(checkpoint, digest)
                return try await leave(stop ?? .pause)
            }
            for command in commands {
                switch command {
                case .open(let connection): open(connection)
                case .cut(let connection): state.withLock { $0.tasks[connection] }?.cancel()
                case .checkpoint:
                    await checkpoint?.value
                    // owner: this function, which awaits it in drain.
                    checkpoint = Task { await self.checkpoint() }
                case .fail(let error):
                    await drain(checkpoint, digest)
                    await keep()
                    storage.close()
                    throw fatal ?? error
                case .finish:
                    await drain(checkpoint, nil)
                    return .completed(try await finish(digest))
                }
            }
            digest.follow()
            try spillIfSlow(at: now)
            await bell.wait()
        }
    }

    private func drain(_ checkpoint: Task<Void, Never>?, _ digest: DigestFollower?) async {
        let tasks = state.withLock { Array($0.tasks.values) }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        await checkpoint?.value
        await digest?.stop()
    }

    /// Keeps what is there for another run: a small file moves to the disk, everything written is claimed.
    private func keep() async {
        do throws(DownloadError) {
            try spill()
        } catch {
            report(.event(.note("what was in memory is lost: \(error.message)")))
        }
        await self.checkpoint()
    }

    private func leave(_ stop: Stop) async throws(DownloadError) -> Outcome {
        switch stop {
        case .pause:
            await keep()
            storage.close()
            announce()
            return .stopped
        case .cancel:
            discard()
            return .cancelled
        }
    }

    /// Hands the machine's events on.
    func announce() {
        let events = state.withLock { state in
            let events = state.machine.drainEvents()
            for event in events { state.record?.append(event, at: environment.clock.date()) }
            return events
        }
        for event in events { report(.event(event)) }
    }

    /// Stops everything with an error that is not the machine's.
    func fail(_ error: DownloadError) {
        state.withLock { state in
            if state.fatal == nil { state.fatal = error }
        }
        bell.ring()
    }
}
