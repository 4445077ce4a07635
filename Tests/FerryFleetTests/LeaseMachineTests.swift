import FerryCore
@testable import FerryFleet
import Testing

@Suite("Leases of a worker") struct LeaseMachineTests {
    private static func batch(
        _ id: Int = 1, total: Int64 = 10_000, state: FleetBatch.State = .open
    ) throws -> FleetBatch {
        try FleetBatch(
            ResultRows.Row(values: ["\(id)", "batch\(id)", state.rawValue, "/data", "\(total)"]), from: 0)
    }

    private static func lease(_ number: Int64, first: Int64 = 1, _ batch: FleetBatch) -> FleetLease {
        FleetLease(number: number, first: first, batch: batch)
    }

    private static func rows(_ lease: FleetLease, _ count: Int64) -> [FleetRow] {
        (0..<count).map {
            FleetRow(
                lease, number: lease.first + $0, urls: "http://h\($0 % 3).test/\(lease.first + $0)", checksum: nil,
                within: WorkerBounds(place: .directory("/")))
        }
    }

    private static func result(_ row: FleetRow) -> FleetResult {
        FleetResult(key: row.key, lease: row.lease, line: "{}")
    }

    @Test("LeaseMachine: rows start, end and are delivered, then their lease is finished")
    func whole() throws {
        var machine = LeaseMachine()
        let lease = Self.lease(7, try Self.batch())
        #expect(machine.beat([lease], deadline: .seconds(100)).lost == [])
        #expect(machine.unread == [lease])
        machine.add(Self.rows(lease, 5), of: 7) { _ in "" }
        let started = machine.start(most: 3, at: .zero) { _ in true }
        #expect(started.count == 3)
        #expect(machine.runningCount == 3)
        #expect(machine.waitingCount == 2)
        for row in started { #expect(machine.end(row.key, Self.result(row)) == true) }
        #expect(machine.end(started[0].key, Self.result(started[0])) == false)
        machine.delivered(machine.results(most: 10))
        #expect(machine.finishable == [])
        for row in machine.start(most: 9, at: .zero, mayStart: { _ in true }) {
            #expect(machine.end(row.key, Self.result(row)) == true)
        }
        machine.delivered(machine.results(most: 10))
        #expect(machine.finishable == [7])
        #expect(machine.finished(7, isEnded: true) == false)
        #expect(machine.isEmpty)
    }

    @Test("LeaseMachine: nothing starts at the deadline or later, until a heartbeat has been answered")
    func fence() throws {
        var machine = LeaseMachine()
        let lease = Self.lease(1, try Self.batch())
        _ = machine.beat([lease], deadline: .seconds(10))
        machine.add(Self.rows(lease, 5), of: 1) { _ in "" }
        #expect(machine.start(most: 5, at: .seconds(10)) { _ in true } == [])
        _ = machine.beat([lease], deadline: .seconds(20))
        #expect(machine.start(most: 5, at: .seconds(10)) { _ in true }.count == 5)
    }

    @Test("LeaseMachine: a lease that a heartbeat does not return takes its rows and results with it")
    func lost() throws {
        var machine = LeaseMachine()
        let batch = try Self.batch()
        let (first, second) = (Self.lease(1, batch), Self.lease(2, first: 501, batch))
        _ = machine.beat([first, second], deadline: .seconds(10))
        machine.add(Self.rows(first, 2), of: 1) { _ in "" }
        machine.add(Self.rows(second, 2), of: 2) { _ in "" }
        let started = machine.start(most: 9, at: .zero) { _ in true }
        let own = try #require(started.first { $0.lease == 1 })
        #expect(machine.end(own.key, Self.result(own)) == true)
        let lost = machine.beat([second], deadline: .seconds(10)).lost
        #expect(Set(lost) == Set(started.filter { $0.lease == 1 }.map(\.key)))
        #expect(machine.runningCount == 2)
        #expect(machine.results(most: 9) == [])
        let late = try #require(started.first { $0.lease == 1 && $0.key != own.key })
        #expect(machine.end(late.key, Self.result(late)) == false)
    }

    @Test("LeaseMachine: results of a lost lease do not hold back those of others")
    func lostResults() throws {
        var machine = LeaseMachine()
        let batch = try Self.batch()
        let (first, second) = (Self.lease(1, batch), Self.lease(2, first: 501, batch))
        _ = machine.beat([first, second], deadline: .seconds(10))
        machine.add(Self.rows(first, 3), of: 1) { _ in "" }
        for row in machine.start(most: 3, at: .zero, mayStart: { _ in true }) {
            #expect(machine.end(row.key, Self.result(row)) == true)
        }
        machine.add(Self.rows(second, 1), of: 2) { _ in "" }
        let other = try #require(machine.start(most: 1, at: .zero) { _ in true }.first)
        #expect(machine.end(other.key, Self.result(other)) == true)
        _ = machine.beat([second], deadline: .seconds(10))
        #expect(machine.results(most: 2).map(\.key) == [other.key])
        machine.delivered(machine.results(most: 2))
        #expect(machine.finishable == [2])
    }

    @Test("LeaseMachine: a row that comes back under another lease takes no result of the earlier one")
    func fenced() throws {
        var machine = LeaseMachine()
        let batch = try Self.batch()
        let old = Self.lease(1, batch)
        _ = machine.beat([old], deadline: .seconds(10))
        machine.add(Self.rows(old, 1), of: 1) { _ in "" }
        let row = try #require(machine.start(most: 1, at: .zero) { _ in true }.first)
        let new = Self.lease(2, batch)
        _ = machine.beat([new], deadline: .seconds(10))
        machine.add(Self.rows(new, 1), of: 2) { _ in "" }
        _ = machine.start(most: 1, at: .zero) { _ in true }
        #expect(machine.end(row.key, Self.result(row)) == false)
    }

    @Test("LeaseMachine: rows of a paused batch wait, those of others start")
    func paused() throws {
        var machine = LeaseMachine()
        let (paused, open) = (Self.lease(1, try Self.batch(1, state: .paused)), Self.lease(2, try Self.batch(2)))
        _ = machine.beat([paused, open], deadline: .seconds(10))
        machine.add(Self.rows(paused, 4), of: 1) { _ in "" }
        machine.add(Self.rows(open, 4), of: 2) { _ in "" }
        // They want nothing of a host's budget.
        #expect(machine.waiting == ["": 4])
        var started: [FleetRow] = []
        for _ in 0..<20 { started += machine.start(most: 9, at: .zero) { _ in true } }
        #expect(started.count == 4)
        #expect(started.allSatisfy { $0.lease == 2 })
        _ = machine.beat([Self.lease(1, try Self.batch(1)), open], deadline: .seconds(10))
        #expect(machine.start(most: 9, at: .zero) { _ in true }.count == 4)
    }

    @Test("LeaseMachine: a row that is tried again waits for its time, and counts its attempts")
    func retry() throws {
        var machine = LeaseMachine()
        let lease = Self.lease(1, try Self.batch())
        _ = machine.beat([lease], deadline: .seconds(100))
        machine.add(Self.rows(lease, 1), of: 1) { $0 }
        let row = try #require(machine.start(most: 1, at: .zero) { _ in true }.first)
        machine.retry(row.key, after: .failed(bytes: 0), at: .seconds(5))
        #expect(machine.wake(at: .seconds(4)) { $0 } == .seconds(5))
        #expect(machine.start(most: 1, at: .seconds(4)) { _ in true } == [])
        #expect(machine.wake(at: .seconds(5)) { $0 } == nil)
        #expect(machine.start(most: 1, at: .seconds(5)) { _ in true } == [row])
        #expect(machine.attempts(of: row.key) == 2)
    }

    @Test(
        "LeaseMachine: a row whose server is down or whose attempt has failed continues with its mirror, under its budget"
    )
    func mirrors() throws {
        var machine = LeaseMachine()
        let lease = Self.lease(1, try Self.batch())
        let urls = ["http://a.test/x", "http://b.test/x"]
        let row = FleetRow(
            lease, number: 1, urls: urls.joined(separator: "\t"), checksum: nil,
            within: WorkerBounds(place: .directory("/")))
        _ = machine.beat([lease], deadline: .seconds(1000))
        machine.add([row], of: 1) { $0 }
        let table = BudgetTable(["*"])
        for (time, host, setback) in [
            (0, "a.test", .failed(bytes: 0)), (1, "b.test", .postponed), (2, "b.test", .absent),
            (3, "a.test", .failed(bytes: 0)),
        ] as [(Int, String, LeaseMachine.Setback)] {
            _ = machine.wake(at: .seconds(time)) { $0 }
            #expect(machine.start(most: 1, at: .seconds(time)) { $0 != host } == [])
            let started = try #require(machine.start(most: 1, at: .seconds(time)) { $0 == host }.first)
            #expect(started.host == host && table.sources(of: started).map(\.host) == [host])
            // Its file and its result have the list's order.
            #expect(started.request == row.request && started.request.sources.map(\.text) == urls)
            machine.retry(row.key, after: setback, at: .seconds(time + 1))
        }
        #expect(machine.attempts(of: row.key) == 2)
    }

    @Test("LeaseMachine: a start that requested nothing is no attempt, and progress begins the count of failures anew")
    func setbacks() throws {
        var machine = LeaseMachine()
        let lease = Self.lease(1, try Self.batch())
        _ = machine.beat([lease], deadline: .seconds(1000))
        machine.add(Self.rows(lease, 1), of: 1) { _ in "" }
        let key = Self.rows(lease, 1)[0].key
        func start(at time: Duration) {
            _ = machine.wake(at: time) { _ in "" }
            #expect(machine.start(most: 1, at: time) { _ in true }.map(\.key) == [key])
        }
        start(at: .zero)
        machine.retry(key, after: .postponed, at: .seconds(1))
        start(at: .seconds(1))
        #expect(machine.attempts(of: key) == 1)
        #expect(machine.failures(of: key, bytes: 0) == 1)
        machine.retry(key, after: .failed(bytes: 0), at: .seconds(2))
        start(at: .seconds(2))
        #expect(machine.failures(of: key, bytes: 0) == 2)
        #expect(machine.failures(of: key, bytes: 500) == 1)
        machine.retry(key, after: .failed(bytes: 500), at: .seconds(3))
        start(at: .seconds(3))
        #expect(machine.failures(of: key, bytes: 500) == 2)
        #expect(machine.attempts(of: key) == 3)
    }

    @Test("LeaseMachine: rows that wait for another attempt are none that may start, and take no slot")
    func later() throws {
        var machine = LeaseMachine()
        let lease = Self.lease(1, try Self.batch())
        _ = machine.beat([lease], deadline: .seconds(1000))
        machine.add(Self.rows(lease, 6), of: 1) { _ in "" }
        let rows = machine.start(most: 4, at: .zero) { _ in true }
        for row in rows { machine.retry(row.key, after: .failed(bytes: 0), at: .seconds(9)) }
        #expect(machine.runningCount == 0)
        #expect(machine.waitingCount == 2)
        #expect(machine.wantsLease(rows: 3))
        _ = machine.beat([], deadline: .seconds(1000))
        #expect(machine.wake(at: .zero) { _ in "" } == nil)
    }

    @Test("LeaseMachine: rows of a server that is away wait for its next attempt, and the others start")
    func absent() throws {
        var machine = LeaseMachine()
        let lease = Self.lease(1, try Self.batch())
        _ = machine.beat([lease], deadline: .seconds(1000))
        machine.add(Self.rows(lease, 9), of: 1) { _ in "" }
        let away = Origin(of: try DownloadURL("http://h0.test/"))
        let started = machine.start(most: 9, at: .zero, absent: [away: .seconds(5)]) { _ in true }
        #expect(started.count == 6)
        #expect(started.allSatisfy { $0.host != "h0.test" })
        #expect(machine.start(most: 9, at: .zero) { _ in true } == [])
        #expect(machine.wake(at: .seconds(5)) { _ in "" } == nil)
        #expect(machine.start(most: 9, at: .seconds(5), absent: [away: .seconds(5)]) { _ in true }.count == 3)
    }

    @Test("LeaseMachine: a lease whose rows are missing in the database is read again, reported once and left alone")
    func incomplete() throws {
        var machine = LeaseMachine()
        _ = machine.beat([Self.lease(1, try Self.batch())], deadline: .seconds(10))
        machine.add([], of: 1) { _ in "" }
        #expect(machine.finishable == [1])
        #expect(machine.finished(1, isEnded: false) == false)
        #expect(machine.unread.map(\.number) == [1])
        machine.add([], of: 1) { _ in "" }
        #expect(machine.finished(1, isEnded: false) == true)
        #expect(machine.finishable == [])
    }

    @Test(
        "LeaseMachine: with random workers, losses and late answers no row is run by two, and each has one result",
        arguments: 1...30)
    func model(seed: UInt64) throws {
        var world = FleetModel(seed: seed, total: 3000)
        for _ in 0..<20_000 where !world.isDone { try world.step() }
        #expect(world.isDone, "seed \(seed)")
        #expect(world.results.count == 3000)
    }
}
