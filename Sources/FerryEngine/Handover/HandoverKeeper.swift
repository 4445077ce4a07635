package import FerryCore
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// Executes the actions of a ``HandoverMachine`` on a background session of the system and on the directory of its leases.
///
/// Events of the session are recorded at once; a file that lands is only moved to its place. Everything else waits for
/// ``settle()``, in the order of the events: splices, stored ends and leases, removals, completion handlers.
package final class HandoverKeeper: Sendable {
    /// The functions of the manager that the keeper calls.
    package struct Manager: Sendable {
        /// Opens the part file and journal, or creates them for the lease of a whole file; `nil` if the download is not listed.
        /// Called on file threads, with the response of the landed file, if it can be read.
        package var open: @Sendable (Lease, ResponseHead?) throws(DownloadError) -> HandoverPair?
        /// Calls the body, which splices one file, while nothing else uses the download's files; returns `postponed` without
        /// calling it if something else uses them.
        package var exclusively: @Sendable (DownloadID, @Sendable () async -> SpliceResult) async -> SpliceResult
        /// Stores the end of a lease and reports it. Called at least once for each lease.
        package var report: @Sendable (LeaseEnd) async throws(DownloadError) -> Void
        /// Reports that a landed file could not be spliced now; it stays until the download is ready.
        package var failed: @Sendable (DownloadID, DownloadError) -> Void
        /// Reports that an event of the session has arrived, so that ``HandoverKeeper/settle()`` may be due. Called on the
        /// session's thread.
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
        /// Whether landed files are postponed.
        var isHurried = false

        mutating func take(_ body: (inout HandoverMachine) -> [HandoverAction]) { pending += body(&machine) }
    }

    private let session: any SystemTransferSession
    private let landing: LandingDirectory
    private let files: FileIO
    /// The file system for files that land, used on the session's thread.
    private let fileSystem: any FileSystem
    private let manager: Manager
    private let state: Mutex<State>
    /// Held while actions are executed.
    private let lock = AsyncLock()

    private init(
        _ session: any SystemTransferSession, _ landing: LandingDirectory, _ fileSystem: any FileSystem,
        files: FileIO, _ manager: Manager, _ machine: HandoverMachine
    ) {
        (self.session, self.landing, self.fileSystem, self.files) = (session, landing, fileSystem, files)
        self.manager = manager
        state = Mutex(State(machine: machine))
    }

    /// Reads the stored leases and the landed files, and only then starts to receive events of the session.
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

    /// Returns whether a download has leases, whose bytes the system has fetched or may still fetch, and whether a landed file
    /// of the download waits to be spliced.
    package func leases(of download: DownloadID) -> (any: Bool, landed: Bool) {
        state.withLock { ($0.machine.hasLeases(of: download), $0.machine.hasLanded(download)) }
    }

    /// Whether actions wait for ``settle()``.
    package var isDue: Bool { state.withLock { !$0.pending.isEmpty } }

    // MARK: Events

    /// Handles an event on the session's thread.
    private func take(_ event: SystemEvent) {
        receive(event)
        manager.arrived()
    }

    private func receive(_ event: SystemEvent) {
        switch event {
        case .landed(let task, let head, let file):
            guard let lease = state.withLock({ $0.machine.lease(ofLanding: task) }) else { return }
            // If this fails, the system removes its file, and the end of the task finds the lease without a landed file.
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

    /// Records that the system has resumed or started the app for its session.
    package func woken(_ completion: @escaping Completion) {
        state.withLock { state in
            state.completions.append(completion)
            state.take { $0.woken() }
        }
    }

    /// Records that the time that the system granted is nearly over.
    package func timeIsUp() { state.withLock { $0.take { $0.timeIsUp() } } }

    /// Takes back a download that is paused: its tasks are cancelled, and files that have landed stay.
    package func takeBack(_ download: DownloadID) { state.withLock { $0.take { $0.takeBack(download) } } }

    /// Takes back a download that is no longer listed.
    package func withdrew(_ download: DownloadID) { state.withLock { $0.take { $0.withdrew(download) } } }

    /// Records that the download can accept landed files again.
    package func retried(_ download: DownloadID) { state.withLock { $0.take { $0.retried(download) } } }

    /// Postpones landed files, and the rest of the file that is being spliced, because the granted time is over or the app is
    /// about to be suspended. ``retried(_:)`` allows splicing them again, after ``hasTime()``.
    package func hurry() { state.withLock { $0.isHurried = true } }

    package func hasTime() { state.withLock { $0.isHurried = false } }

    private var isHurried: Bool { state.withLock { $0.isHurried } }

    /// Whether the task of some lease is unknown; ``compare()`` resolves this.
    package var isMissingTask: Bool { state.withLock { $0.machine.isMissingTask } }

    // MARK: Handing over and taking back

    /// Leases the missing ranges of the candidates, in the order of the queue, and starts their tasks in one batch. Returns the
    /// reason for each download that stays with the app, in whole or in part.
    ///
    /// - Parameters:
    ///   - candidates: The downloads, without duplicates.
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

    /// Takes back the ranges of which the system has not yet received most of the bytes.
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

    /// Executes the waiting actions in order. After an error, or when the task is cancelled, the rest waits for the next call.
    package func settle() async throws(DownloadError) {
        await lock.acquire()
        defer { lock.release() }
        try await settleInTurn(isCancellable: true)
    }

    private func settleInTurn(isCancellable: Bool = false) async throws(DownloadError) {
        while let action = state.withLock({ $0.pending.first }) {
            if isCancellable, Task.isCancelled { return }
            try await execute(action)
            // Other tasks only append.
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
