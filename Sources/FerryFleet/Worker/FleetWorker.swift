import Ferry
import FerryCore
import FerryTerminal

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// `ferry work`: downloads the rows of leases with a ``DownloadManager``, whose list is in the worker's state directory.
///
///     database ─► LeaseMachine ─► StartGate ─► manager ─► events ─► LeaseMachine ─► results ─► database
///
/// Invariants:
/// - The manager's list holds a row from its start until the database has its result, so a killed worker knows what it
///   runs and what it has not yet reported.
/// - Files start and end without the database: only leases, results and budgets wait for it.
/// - No transaction is open while anything is downloaded: each call is one statement.
/// - Nothing runs after the deadline of the leases, which is counted from the moment at which the heartbeat was sent.
/// - Heartbeats are sent one after another by one task over a connection of their own, so that they wait for no other
///   statement, and their answers come in order.
actor FleetWorker {
    let plan: WorkerPlan
    let store: FleetStore
    /// The connection of heartbeats.
    let pulse: FleetStore
    let manager: DownloadManager
    let report: WorkerReport
    private let start = ContinuousClock.now
    /// This worker's key and number in the database; 0 before it has joined.
    var key = ""
    var worker: Int64 = 0
    var machine = LeaseMachine()
    var gate = StartGate()
    var budgets = BudgetTable()
    var clock = DatabaseClock()
    /// The listed downloads of rows.
    var downloads: [RowKey: Download] = [:]
    var keys: [DownloadID: RowKey] = [:]
    /// Those of an earlier process by their lease, until the rows of these are read.
    var listed: [Int64: [RowKey]]?
    /// Delays that servers have asked for, by what their hosts' starts are counted under.
    var holds: [String: Duration] = [:]
    /// Servers that are down or have asked to wait, and when the next attempt at them is due.
    var absent: [Origin: Duration] = [:]
    /// Rows whose downloads wait in the list for a server, and for how long.
    var held: [RowKey: Duration] = [:]
    var times = WorkerTimes()
    var counts = WorkerCounts()
    var directories: Set<String> = []
    /// What the starts of running rows were counted under.
    var startedUnder: [RowKey: String] = [:]
    /// Rows that others have now, and that are still to be stopped.
    var lost: [RowKey] = []
    /// Hosts whose connections are still to be given back.
    var unreleased: Set<String> = []
    var isPausedByFence = false
    private(set) var isStopping = false
    private var isOver = false
    /// Notified when there is something to start or to tell the database.
    nonisolated let changed: AsyncEvent
    /// Notified when a heartbeat is wanted before its time.
    let beatWanted: AsyncEvent

    /// - Parameters:
    ///   - changed: Notified by the database too.
    ///   - beatWanted: Likewise.
    init(
        _ plan: WorkerPlan, store: FleetStore, pulse: FleetStore, manager: DownloadManager, report: WorkerReport,
        changed: AsyncEvent, beatWanted: AsyncEvent
    ) {
        (self.plan, self.store, self.pulse) = (plan, store, pulse)
        (self.manager, self.report, self.changed, self.beatWanted) = (manager, report, changed, beatWanted)
    }

    /// What the worker has done, for its last line.
    var summary: Reason { "\(counts.completed) complete, \(counts.failed) failed" }

    var now: Duration { ContinuousClock.now - start }

    /// Works until nothing is left, with `--until-done`, or until a signal.
    func run(
        key: String, signals: AsyncStream<Int32>, willLeave: @escaping @Sendable (ExitCode) -> Void
    ) async throws -> ExitCode {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await signal in signals where signal != SignalWatch.continuing && signal != SignalWatch.suspending {
                    await self.stop(SignalWatch.exitCode(signal), willLeave)
                }
            }
            group.addTask {
                // Before the list is opened, so that no end is missed.
                let events = self.manager.events
                try await self.begin(key: key)
                await withTaskGroup(of: Void.self) { work in
                    work.addTask { for await event in events { await self.follow(event) } }
                    work.addTask { await self.startLoop() }
                    work.addTask { await self.heartLoop() }
                    work.addTask { await self.databaseLoop() }
                    for await _ in work { if await self.isEnding { break } }
                    await self.manager.shutdown()
                }
            }
            _ = try await group.next()
            // The signals' task ends last, or is the first when the worker was told to stop before it had begun.
            while !isEnding { if try await group.next() == nil { break } }
            group.cancelAll()
        }
        return plan.allowsFailures ? counts.exitCode.allowingFailures : counts.exitCode
    }

    var isEnding: Bool { isOver || isStopping }

    private func stop(_ code: ExitCode, _ willLeave: (ExitCode) -> Void) async {
        guard !isStopping else { return }
        isStopping = true
        counts.interruption = code
        willLeave(code)
        report.message("stopping; the same command goes on with what this worker holds")
        changed.notify()
        beatWanted.notify()
        await manager.shutdown()
        _ = try? await deliver()
    }

    /// Ends the run.
    func end() {
        isOver = true
        changed.notify()
        beatWanted.notify()
    }

    /// Returns when an event has been notified, or after a time.
    private func wait(for event: AsyncEvent, after seen: UInt64, atMost time: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await event.wait(after: seen) }
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Whether the database is away, or a heartbeat is late: servers may be away for the same reason.
    var lacksDatabase: Bool { times.isAway || now > times.beatAt + Self.lateness }

    private static let lateness: Duration = .seconds(3)

    // MARK: Loops

    /// Starts rows whenever slots, budgets and leases permit; stops those that others have.
    private func startLoop() async {
        while !isEnding, !Task.isCancelled {
            let seen = changed.count
            let table = budgets
            let wake = machine.wake(at: now) { table.key(of: $0) }
            await stopLost()
            await fence()
            await pauseHeld()
            await startRows()
            let isFull = machine.runningCount >= plan.parallel
            let next = [wake, isFull ? nil : gate.nextStart(machine.waiting)].compactMap(\.self).min()
            // An idle second, or the time of the next start.
            let pause = min(.seconds(1), max(.milliseconds(5), (next ?? .seconds(3600)) - now))
            await wait(for: changed, after: seen, atMost: pause)
        }
    }

    private func startRows() async {
        let (time, most) = (now, max(0, plan.parallel - machine.runningCount))
        var gate = gate
        absent = absent.filter { $0.value > time }
        let rows = machine.start(most: most, at: time, absent: absent) { gate.mayStart($0, at: time) }
        self.gate = gate
        for row in rows { startedUnder[row.key] = budgets.key(of: row.host) }
        if !rows.isEmpty { await submit(rows) }
    }

    /// Sends heartbeats.
    private func heartLoop() async {
        while !isEnding, !Task.isCancelled {
            let seen = beatWanted.count
            let isSent = await attempt { () async throws(DatabaseError) in try await beat() }
            if isEnding { return }
            let pause = isSent ? times.beatAt - now : Self.pauseWhileAway
            await wait(for: beatWanted, after: seen, atMost: max(.zero, pause))
        }
    }

    /// Tells the database results, and asks it for leases and budgets.
    private func databaseLoop() async {
        while !isEnding, !Task.isCancelled {
            let seen = changed.count
            var pause = Self.pauseWhileAway
            _ = await attempt { () async throws(DatabaseError) in pause = try await turn() }
            if isEnding { return }
            // Events of single files need no statement of their own: results wait for each other a little.
            if pause <= .milliseconds(500) {
                try? await Task.sleep(for: pause)
            } else {
                await wait(for: changed, after: seen, atMost: pause)
            }
        }
    }

    private static let pauseWhileAway: Duration = .seconds(1)

    /// Makes statements. Returns false while the database is away; ends the run if they can never succeed.
    private func attempt(_ statements: () async throws(DatabaseError) -> Void) async -> Bool {
        do throws(DatabaseError) {
            try await statements()
            if times.isAway { report.message("the database is back") }
            times.isAway = false
            return true
        } catch {
            guard error.isTransient else {
                report.failed(error)
                counts.codes.insert(.internal)
                end()
                return false
            }
            if !times.isAway { report.message("\(error.reason); downloads go on") }
            times.isAway = true
            return false
        }
    }
}
