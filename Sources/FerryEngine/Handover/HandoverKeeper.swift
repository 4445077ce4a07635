package import FerryCore
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// Executes a ``HandoverMachine`` over a session of the system, and the directory of its leases.
///
/// Events of the session are taken at once, and a file that lands is only given its place. All else waits in the order of
/// the events for ``settle()``: splices, stored ends and leases, removals, completion handlers.
package final class HandoverKeeper: Sendable {
    /// What the keeper needs of the manager.
    package struct Manager: Sendable {
        /// Opens part file and journal, or makes them for the lease of a whole file; `nil` if the download is not listed.
        /// Called on file threads, with the response of the landed file, if it can be read.
        package var open: @Sendable (Lease, ResponseHead?) throws(DownloadError) -> HandoverPair?
        /// Calls the body, which splices one file, while nothing else uses the download's files; `postponed` without a call
        /// if something does.
        package var exclusively: @Sendable (DownloadID, @Sendable () async -> SpliceResult) async -> SpliceResult
        /// Stores the end of a lease, and reports it. Called at least once for each.
        package var report: @Sendable (LeaseEnd) async throws(DownloadError) -> Void
        /// A landed file could not be spliced now; it stays until the download is ready.
        package var failed: @Sendable (DownloadID, DownloadError) -> Void
        /// An event of the session has come: ``HandoverKeeper/settle()`` may have to be called. Called on its thread.
        package var arrived: @Sendable () -> Void
        package var now: @Sendable () -> Duration
        package var date: @Sendable () -> Date

        package init(
            open: @escaping @Sendable (Lease, ResponseHead?) throws(DownloadError) -> HandoverPair?,
            exclusively: @escaping @Sendable (DownloadID, @Sendable () async -> SpliceResult) async -> SpliceResult = {
                await $1()
            },
            report: @escaping @Sendable (LeaseEnd) async throws(DownloadError) -> Void,
            failed: @escaping @Sendable (DownloadID, DownloadError) -> Void = { _, _ in },
            arrived: @escaping @Sendable () -> Void = {},
            now: @escaping @Sendable () -> Duration, date: @escaping @Sendable () -> Date
        ) {
            (self.open, self.exclusively, self.report) = (open, exclusively, report)
            (self.failed, self.arrived, self.now, self.date) = (failed, arrived, now, date)
        }
    }

    /// A completion handler of the system, which is called on the main thread.
    package typealias Completion = @MainActor @Sendable () -> Void

    private struct State {
        var machine: HandoverMachine
        var pending: [HandoverAction] = []
        var completions: [Completion] = []
        /// Whether landed files are left for later.
        var isHurried = false

        mutating func take(_ body: (inout HandoverMachine) -> [HandoverAction]) { pending += body(&machine) }
    }

    private let session: any SystemTransferSession
    private let landing: LandingDirectory
    private let files: FileIO
    /// For files that land, on the session's thread.
    private let fileSystem: any FileSystem
    private let manager: Manager
    private let state: Mutex<State>
    /// Held by whoever executes actions.
    private let lock = AsyncLock()

    private init(
        _ session: any SystemTransferSession, _ landing: LandingDirectory, _ fileSystem: any FileSystem,
        files: FileIO, _ manager: Manager, _ machine: HandoverMachine
    ) {
        (self.session, self.landing, self.fileSystem, self.files) = (session, landing, fileSystem, files)
        self.manager = manager
        state = Mutex(State(machine: machine))
    }

    /// Reads the stored leases and what has landed, and only then listens to the session.
    package static func open(
        _ session: any SystemTransferSession, landing: LandingDirectory, fileSystem: any FileSystem,
        threads: FileThreads = .shared, limits: HandoverLimits = HandoverLimits(), manager: Manager
    ) async throws(DownloadError) -> HandoverKeeper {
        let files = FileIO(fileSystem, threads: threads)
        let now = manager.now()
        let machine = try await files.run { disk throws(DownloadError) -> HandoverMachine in
            do throws(FileError) {
                try landing.prepare(disk.fileSystem)
                let book = try landing.leases(disk.fileSystem) ?? .empty
                let landed = try landing.landed(disk.fileSystem)
                return HandoverMachine(book, landed: landed, limits: limits, at: now)
            } catch { throw DownloadError(error) }
        }
        let keeper = HandoverKeeper(session, landing, fileSystem, files: files, manager, machine)
        keeper.state.withLock { state in state.pending = state.machine.began() }
        session.setHandler { [weak keeper] event in keeper?.take(event) }
        return keeper
    }

    package var leases: [Lease] { state.withLock { $0.machine.leases } }

    /// Whether the system has bytes of a download, or may still fetch some; and whether a file of it waits to be spliced.
    package func leases(of download: DownloadID) -> (any: Bool, landed: Bool) {
        state.withLock { ($0.machine.hasLeases(of: download), $0.machine.hasLanded(download)) }
    }

    /// Whether something waits for ``settle()``.
    package var isDue: Bool { state.withLock { !$0.pending.isEmpty } }

    // MARK: Events

    /// Takes an event on the session's thread.
    private func take(_ event: SystemEvent) {
        receive(event)
        manager.arrived()
    }

    private func receive(_ event: SystemEvent) {
        switch event {
        case .landed(let task, let head, let file):
            guard let lease = state.withLock({ $0.machine.lease(ofLanding: task) }) else { return }
            // The system removes a file that is still there: the end of its task then finds the lease without one.
            do throws(FileError) { try landing.land(file, as: lease.number, head, fileSystem: fileSystem) } catch {
                return manager.failed(lease.download, DownloadError(error))
            }
            state.withLock { $0.take { $0.landed(lease.number) } }
        case .ended(let task, let failure): state.withLock { $0.take { $0.ended(task, failure) } }
        case .wrote(let task): state.withLock { $0.machine.wrote(task) }
        case .drained:
            let now = manager.now()
            state.withLock { $0.take { $0.drained(at: now) } }
        }
    }

    /// The system has resumed or started the app for its session.
    package func woken(_ completion: @escaping Completion) {
        state.withLock { state in
            state.completions.append(completion)
            state.take { $0.woken() }
        }
    }

    /// The time that the system gave is nearly over.
    package func timeIsUp() { state.withLock { $0.take { $0.timeIsUp() } } }

    /// The download is paused: its tasks are cancelled, and files that have landed stay.
    package func takeBack(_ download: DownloadID) { state.withLock { $0.take { $0.takeBack(download) } } }

    /// The download is not listed any more.
    package func withdrew(_ download: DownloadID) { state.withLock { $0.take { $0.withdrew(download) } } }

    /// The download can take landed files again.
    package func retried(_ download: DownloadID) { state.withLock { $0.take { $0.retried(download) } } }

    /// Leaves landed files, and what is left of the one at hand, for later: the time is over, or the app is about to be
    /// suspended. ``retried(_:)`` lets them be spliced again, after ``hasTime()``.
    package func hurry() { state.withLock { $0.isHurried = true } }

    package func hasTime() { state.withLock { $0.isHurried = false } }

    private var isHurried: Bool { state.withLock { $0.isHurried } }

    /// Whether a lease has no task that is known: ``compare()`` finds out.
    package var isMissingTask: Bool { state.withLock { $0.machine.isMissingTask } }

    // MARK: Handing over and taking back

    /// Leases the missing ranges of the candidates, in the order of the queue, and begins their tasks in one batch. Returns
    /// why a download, or the rest of it, stays with the app.
    ///
    /// - Parameters:
    ///   - candidates: The downloads, each once.
    ///   - space: The number of bytes that may land; `nil` for any.
    ///   - random: The source of the leases' numbers.
    package func handOver(
        _ candidates: [HandoverCandidate], space: ByteCount? = nil, using random: inout some RandomNumberGenerator
    ) async throws(DownloadError) -> [DownloadID: HandoverRefusal] {
        await lock.acquire()
        defer { lock.release() }
        var generator = random
        defer { random = generator }
        let batch = state.withLock { state in
            let batch = state.machine.handOver(candidates, space: space, using: &generator)
            state.pending += batch.actions
            return batch
        }
        let numbers = batch.requests.map(\.lease.number)
        do throws(DownloadError) { try await settleInTurn() } catch {
            state.withLock { $0.machine.notBegun(numbers) }
            throw error
        }
        guard !batch.requests.isEmpty else { return batch.refusals }
        let tasks = await session.begin(batch.requests)
        state.withLock { state in
            for (number, task) in tasks { state.machine.began(number, task: task) }
        }
        return batch.refusals
    }

    /// Compares the leases with the session's tasks.
    package func compare() async throws(DownloadError) { try await list { $0.listed($1, at: $2) } }

    /// Takes back what the system has not nearly fetched.
    package func cameToForeground() async throws(DownloadError) { try await list { $0.cameToForeground($1, at: $2) } }

    private func list(
        _ body: @Sendable (inout HandoverMachine, [SystemTask], Duration) -> [HandoverAction]
    ) async throws(DownloadError) {
        await lock.acquire()
        defer { lock.release() }
        let tasks = await session.tasks()
        let now = manager.now()
        state.withLock { state in state.take { body(&$0, tasks, now) } }
        try await settleInTurn()
    }

    // MARK: Executing

    /// Executes what waits, in order. After an error, or the cancellation of the task, the rest waits for the next call.
    package func settle() async throws(DownloadError) {
        await lock.acquire()
        defer { lock.release() }
        try await settleInTurn(isCancellable: true)
    }

    private func settleInTurn(isCancellable: Bool = false) async throws(DownloadError) {
        while let action = state.withLock({ $0.pending.first }) {
            if isCancellable, Task.isCancelled { return }
            try await execute(action)
            // Others append only.
            state.withLock { _ = $0.pending.removeFirst() }
        }
    }

    private func execute(_ action: HandoverAction) async throws(DownloadError) {
        switch action {
        case .cancel(let task): session.cancel(task)
        case .splice(let lease):
            let result = await splice(lease)
            state.withLock { $0.take { $0.spliced(lease.number, result) } }
        case .report(let end): try await manager.report(end)
        case .save(let book):
            try await onDisk { fileSystem throws(FileError) in try self.landing.store(book, fileSystem) }
        case .discard(let number):
            try await onDisk { fileSystem throws(FileError) in try self.landing.remove(number, fileSystem) }
        case .complete:
            let completions = state.withLock { state in
                defer { state.completions = [] }
                return state.completions
            }
            for completion in completions { await completion() }
        }
    }

    private func splice(_ lease: Lease) async -> SpliceResult {
        if isHurried { return .postponed }
        return await manager.exclusively(lease.download) { await self.spliceNow(lease) }
    }

    private func spliceNow(_ lease: Lease) async -> SpliceResult {
        do throws(DownloadError) {
            return try await files.run { [self] disk throws(DownloadError) -> SpliceResult in
                guard var pair = try manager.open(lease, landing.head(of: lease.number, disk.fileSystem)) else {
                    return .ended(.withdrawn)
                }
                defer { pair.close() }
                let result = try LandedFileSplicer(landing, fileSystem: disk.fileSystem) { [self] in isHurried }
                    .splice(lease, into: &pair, now: manager.date())
                pair.discardIfUseless()
                return result
            }
        } catch {
            manager.failed(lease.download, error)
            return .postponed
        }
    }

    private func onDisk(
        _ body: @escaping @Sendable (any FileSystem) throws(FileError) -> Void
    ) async throws(DownloadError) {
        try await files.run { disk throws(DownloadError) in
            do throws(FileError) { try body(disk.fileSystem) } catch { throw DownloadError(error) }
        }
    }
}
