import FerryCore

/// The leases of a worker, and the state of each of their rows. No I/O, no clock: times are durations since the worker's start, on
/// a monotonic clock.
///
///     beat ─► lease ─► rows ─► waiting ─► running ─► ended ─► delivered ─► lease finished
///                                 ▲          │
///                                 └─ retry ──┘
///
/// Invariants:
/// - A row is started only while its lease is held: before ``deadline``, and as long as heartbeats return the lease.
/// - A row is in one state; a lease is finished when all of its results are in the database.
/// - A result is kept until the database has it, or until another worker holds the lease.
struct LeaseMachine: Sendable {
    private enum RowState: Sendable, Hashable {
        case waiting
        case running
        case ended(FleetResult)
    }

    private struct Entry: Sendable {
        var row: FleetRow
        var state: RowState
        /// The attempts so far.
        var attempts = 0
        /// The number of failed attempts since the last progress. ``bytes`` is the number of bytes that were present then.
        var failures = 0
        var bytes: ByteCount = 0
    }

    /// Why a running row waits for another start.
    enum Setback: Sendable, Hashable {
        /// The attempt has failed, with this many bytes present. The next one begins with the row's next URL.
        case failed(bytes: ByteCount)
        /// The server is down, so the attempt does not count. The next one begins with the row's next URL.
        case absent
        /// The attempt does not count, because a server has requested a pause, the disk is full, or the leases had expired.
        case postponed
    }

    private struct Held: Sendable {
        var lease: FleetLease
        /// Its rows that have no result in the database; `nil` until they are read.
        var open: Set<Int64>?
        /// Whether the lease was read again, because the database lacked results although no row was open here.
        var isReread = false
        /// Whether the lease can never end, because its rows are not in the database.
        var isHopeless = false
    }

    private var leases: [Int64: Held] = [:]
    private var entries: [RowKey: Entry] = [:]
    /// Waiting rows by the budget that they start under; rows whose time has not come are in ``later``.
    private var queues: [String: ArraySlice<RowKey>] = [:]
    /// The order in which the queues are visited.
    private var ring: [String] = []
    private var later: [(at: Duration, key: RowKey)] = []
    private var undelivered: [RowKey] = []
    /// The time up to which the leases are held.
    private(set) var deadline: Duration = .zero
    private(set) var runningCount = 0

    /// The maximum number of leases that the worker takes. ``mostHeld`` is the maximum number that a heartbeat may return.
    static let mostLeases = 400
    static let mostHeld = 10_000

    // MARK: Leases

    struct Change: Sendable, Equatable {
        /// Rows whose lease another worker holds, or whose batch was removed.
        var lost: [RowKey] = []
    }

    /// Records the leases that a heartbeat has returned.
    ///
    /// - Parameter deadline: The time at which the heartbeat was sent, plus the duration of leases, minus a margin.
    mutating func beat(_ held: [FleetLease], deadline: Duration) -> Change {
        self.deadline = deadline
        let numbers = Set(held.map(\.number))
        var change = Change()
        for number in leases.keys where !numbers.contains(number) { change.lost += drop(number) }
        for lease in held {
            if leases[lease.number] == nil {
                leases[lease.number] = Held(lease: lease)
            } else {
                leases[lease.number]?.lease = lease
            }
        }
        return change
    }

    /// Whether nothing may run, because another worker may hold the leases.
    func isFenced(at now: Duration) -> Bool { now >= deadline }

    /// The leases whose rows must be read.
    var unread: [FleetLease] { leases.values.filter { $0.open == nil }.map(\.lease).sorted { $0.number < $1.number } }

    /// Adds the rows of a lease that have no result.
    ///
    /// - Parameter ended: The results of rows that have already ended in an earlier process.
    mutating func add(
        _ rows: [FleetRow], of lease: Int64, ended: [RowKey: FleetResult] = [:], budget: (String) -> String
    ) {
        guard leases[lease] != nil, leases[lease]?.open == nil else { return }
        leases[lease]?.open = Set(rows.map(\.key.number))
        if !rows.isEmpty { leases[lease]?.isReread = false }
        for row in rows {
            if let result = ended[row.key] {
                entries[row.key] = Entry(row: row, state: .ended(result), attempts: 1)
                undelivered.append(row.key)
            } else {
                entries[row.key] = Entry(row: row, state: .waiting)
                enqueue(row.key, budget(row.host))
            }
        }
    }

    /// The leases without remaining rows, which can be ended in the database.
    var finishable: [Int64] {
        leases.values.filter { $0.open?.isEmpty == true && !$0.isHopeless }.map(\.lease.number)
    }

    /// Records whether the database has ended a lease. A lease that lacks results, for example because the database has lost its
    /// last transactions, is read again.
    ///
    /// Returns whether the lease can never end, because its rows are not in the database.
    mutating func finished(_ lease: Int64, isEnded: Bool) -> Bool {
        guard let held = leases[lease] else { return false }
        if isEnded {
            leases[lease] = nil
            return false
        }
        if held.isReread {
            leases[lease]?.isHopeless = true
        } else {
            leases[lease]?.isReread = true
            leases[lease]?.open = nil
        }
        return held.isReread
    }

    private mutating func drop(_ lease: Int64) -> [RowKey] {
        guard let held = leases.removeValue(forKey: lease) else { return [] }
        var lost: [RowKey] = []
        for number in held.open ?? [] {
            let key = RowKey(batch: held.lease.batch.id, number: number)
            guard let entry = entries.removeValue(forKey: key) else { continue }
            if entry.state == .running { runningCount -= 1 }
            lost.append(key)
        }
        // Otherwise results of rows that are no longer held would block later results for ever.
        undelivered.removeAll { entries[$0] == nil }
        later.removeAll { entries[$0.key] == nil }
        return lost
    }

    // MARK: Rows

    /// The number of rows that may start if their budgets allow it, except rows of paused batches and rows that wait for the time
    /// of another attempt.
    var waitingCount: Int {
        var count = 0
        for held in leases.values where held.lease.batch.state != .paused { count += held.open?.count ?? 0 }
        return max(0, count - runningCount - undelivered.count - later.count)
    }

    var isEmpty: Bool { leases.isEmpty }

    func holds(_ lease: Int64) -> Bool { leases[lease] != nil }
    var leaseCount: Int { leases.count }
    /// The number of results that the database does not have.
    var undeliveredCount: Int { undelivered.count }
    /// The number of rows that neither run nor have ended, including rows of paused batches and rows that wait for another attempt.
    var unstartedCount: Int { entries.count - runningCount - undelivered.count }

    /// Whether another lease is wanted.
    ///
    /// - Parameter rows: The number of rows that should be waiting.
    func wantsLease(rows: Int) -> Bool {
        leases.count < Self.mostLeases && unread.isEmpty && waitingCount < rows
    }

    /// The number of waiting rows for each budget; rows of hosts without a budget are under the empty string. Rows of paused
    /// batches do not count.
    var waiting: [String: Int] {
        let hasPaused = leases.values.contains { $0.lease.batch.state == .paused }
        let counts = queues.mapValues { keys in hasPaused ? keys.count { !isPaused($0) } : keys.count }
        return counts.filter { $0.value > 0 }
    }

    /// Takes rows that start now.
    ///
    /// - Parameters:
    ///   - absent: The servers whose rows wait, and when the next attempt at each is due.
    ///   - mayStart: Takes one start from a budget; returns false if none is available now.
    mutating func start(
        most: Int, at now: Duration, absent: [Origin: Duration] = [:], mayStart: (String) -> Bool
    ) -> [FleetRow] {
        guard !isFenced(at: now), most > 0 else { return [] }
        var started: [FleetRow] = []
        var blocked = 0
        while started.count < most, !ring.isEmpty, blocked < ring.count {
            let budget = ring.removeFirst()
            let key = nextStartable(budget)
            guard queues[budget]?.isEmpty == false else {
                queues[budget] = nil
                continue
            }
            ring.append(budget)
            guard let key, let row = entries[key]?.row else {
                blocked += 1
                continue
            }
            if !absent.isEmpty, let time = row.server.flatMap({ absent[$0] }), time > now {
                _ = queues[budget]?.popFirst()
                later.append((time, key))
                continue
            }
            guard mayStart(budget) else {
                blocked += 1
                continue
            }
            blocked = 0
            _ = queues[budget]?.popFirst()
            entries[key]?.state = .running
            entries[key]?.attempts += 1
            runningCount += 1
            started.append(row)
        }
        return started
    }

    /// Moves the first row that may start to the front of the queue, and returns it; `nil` if all rows belong to paused batches.
    /// Drops rows whose lease is lost.
    private mutating func nextStartable(_ budget: String) -> RowKey? {
        var turns = queues[budget]?.count ?? 0
        while turns > 0, let key = queues[budget]?.first {
            turns -= 1
            if entries[key]?.state == .waiting, !isPaused(key) { return key }
            _ = queues[budget]?.popFirst()
            if entries[key]?.state == .waiting { queues[budget]?.append(key) }
        }
        return nil
    }

    private func isPaused(_ key: RowKey) -> Bool {
        guard let lease = entries[key]?.row.lease else { return false }
        return leases[lease]?.lease.batch.state == .paused
    }

    private mutating func enqueue(_ key: RowKey, _ budget: String) {
        if queues[budget] == nil {
            queues[budget] = []
            ring.append(budget)
        }
        queues[budget]?.append(key)
    }

    /// The number of attempts at a row so far, including the running one.
    func attempts(of key: RowKey) -> Int { entries[key]?.attempts ?? 0 }
    func row(_ key: RowKey) -> FleetRow? { entries[key]?.row }
    func isRunning(_ key: RowKey) -> Bool { entries[key]?.state == .running }

    /// The number of attempts that have failed without progress, including one that fails now with this many bytes present.
    func failures(of key: RowKey, bytes: ByteCount) -> Int {
        guard let entry = entries[key], bytes <= entry.bytes else { return 1 }
        return entry.failures + 1
    }

    /// Records the end of a running row. Returns false if the row is not running under this lease.
    mutating func end(_ key: RowKey, _ result: FleetResult) -> Bool {
        guard entries[key]?.state == .running, entries[key]?.row.lease == result.lease else { return false }
        entries[key]?.state = .ended(result)
        runningCount -= 1
        undelivered.append(key)
        return true
    }

    /// Lets a running row wait for its next attempt.
    mutating func retry(_ key: RowKey, after setback: Setback, at time: Duration) {
        guard entries[key]?.state == .running else { return }
        entries[key]?.state = .waiting
        switch setback {
        case .failed(let bytes):
            let count = failures(of: key, bytes: bytes)
            let most = max(bytes, entries[key]?.bytes ?? 0)
            entries[key]?.failures = count
            entries[key]?.bytes = most
            entries[key]?.row.turn()
        case .absent:
            entries[key]?.attempts -= 1
            entries[key]?.row.turn()
        case .postponed: entries[key]?.attempts -= 1
        }
        runningCount -= 1
        later.append((time, key))
    }

    /// Queues the rows whose time for another attempt has come. Returns the time of the next one.
    mutating func wake(at now: Duration, budget: (String) -> String) -> Duration? {
        let due = later.filter { $0.at <= now }
        later.removeAll { $0.at <= now }
        for (_, key) in due { if let row = entries[key]?.row { enqueue(key, budget(row.host)) } }
        return later.map(\.at).min()
    }

    /// Sorts the waiting rows into queues again, after the budgets have changed.
    mutating func requeue(budget: (String) -> String) {
        let keys = ring.flatMap { queues[$0] ?? [] }
        (queues, ring) = ([:], [])
        for key in keys { if let row = entries[key]?.row { enqueue(key, budget(row.host)) } }
    }

    // MARK: Results

    /// Returns at most `most` results for the database.
    func results(most: Int) -> [FleetResult] {
        undelivered.prefix(most).compactMap { key in
            if case .ended(let result)? = entries[key]?.state { result } else { nil }
        }
    }

    /// Records that the database has these results, or that another worker holds their rows.
    mutating func delivered(_ results: [FleetResult]) {
        let keys = Set(results.map(\.key))
        undelivered.removeAll { keys.contains($0) }
        for result in results {
            guard let entry = entries[result.key], entry.row.lease == result.lease else { continue }
            entries[result.key] = nil
            leases[result.lease]?.open?.remove(result.key.number)
        }
    }
}
