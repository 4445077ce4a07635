import FerryCore
@testable import FerryFleet
import Testing

/// A database with a few rows, and workers that are killed, cut off and late: what the tables and functions of
/// docs/fleet.md do, in memory. It refuses what must not happen: two workers that run one row at a time.
struct FleetModel {
    private struct Worker {
        var machine = LeaseMachine()
        /// The database's end of its leases.
        var until = 0
        /// The time up to which it cannot reach the database.
        var awayUntil = 0
        /// The time up to which it is no process.
        var deadUntil = 0
        var running: Set<RowKey> = []
        /// Stopped at the end of its leases, until it knows which of them it still has.
        var stopped: Set<RowKey> = []
    }

    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 33)
        }
    }

    private var generator: Generator
    private var workers = [Worker](repeating: Worker(), count: 4)
    /// By the first row: the number, and the worker.
    private var leases: [Int64: (number: Int64, worker: Int)] = [:]
    private var done: Set<Int64> = []
    private(set) var results: Set<RowKey> = []
    private var nextFirst: Int64 = 1
    private var lastNumber: Int64 = 0
    private var now = 0
    private let batch: FleetBatch
    private let total: Int64

    private static let lasting = 60
    private static let margin = 12

    init(seed: UInt64, total: Int64) {
        generator = Generator(state: seed &* 0x9E37_79B9_7F4A_7C15)
        self.total = total
        let row = ResultRows.Row(values: ["1", "model", "open", "/data", "\(total)"])
        guard let batch = try? FleetBatch(row, from: 0) else { preconditionFailure("no batch") }
        self.batch = batch
    }

    var isDone: Bool { done.count == Int((total + 499) / 500) }

    /// Lets a second pass, in which each worker does something.
    mutating func step() throws {
        now += 1
        for index in workers.indices {
            if Int.random(in: 0..<200, using: &generator) == 0 { kill(index) }
            if Int.random(in: 0..<150, using: &generator) == 0 {
                workers[index].awayUntil = now + Int.random(in: 1..<3 * Self.lasting, using: &generator)
            }
            guard now >= workers[index].deadUntil else { continue }
            fence(index)
            if now >= workers[index].awayUntil { talk(index) }
            fence(index)
            try run(index)
        }
    }

    private mutating func kill(_ index: Int) {
        workers[index].machine = LeaseMachine()
        (workers[index].running, workers[index].stopped) = ([], [])
        workers[index].deadUntil = now + Int.random(in: 1..<2 * Self.lasting, using: &generator)
    }

    private mutating func fence(_ index: Int) {
        guard workers[index].machine.isFenced(at: .seconds(now)) else { return }
        workers[index].stopped.formUnion(workers[index].running)
        workers[index].running = []
    }

    /// A heartbeat, results, the ends of leases, and a new lease.
    private mutating func talk(_ index: Int) {
        beat(index)
        let given = workers[index].machine.results(most: 100)
        for result in given where leases.values.contains(where: { $0.number == result.lease }) {
            #expect(results.insert(result.key).inserted == true)
        }
        workers[index].machine.delivered(given)
        for number in workers[index].machine.finishable {
            if let first = leases.first(where: { $0.value.number == number })?.key {
                done.insert(first)
                leases[first] = nil
            }
            _ = workers[index].machine.finished(number, isEnded: true)
        }
        guard workers[index].machine.wantsLease(rows: 20) else { return }
        lastNumber += 1
        if let dead = leases.first(where: { workers[$0.value.worker].until < now }) {
            leases[dead.key] = (lastNumber, index)
        } else if nextFirst <= total {
            leases[nextFirst] = (lastNumber, index)
            nextFirst += 500
        }
        beat(index)
        for lease in workers[index].machine.unread {
            let open = (lease.first...lease.last).filter { !results.contains(RowKey(batch: 1, number: $0)) }
            let rows = open.map {
                FleetRow(
                    lease, number: $0, urls: "http://h.test/\($0)", checksum: nil,
                    within: WorkerBounds(place: .directory("/")))
            }
            workers[index].machine.add(rows, of: lease.number) { _ in "" }
        }
    }

    private mutating func beat(_ index: Int) {
        workers[index].until = now + Self.lasting
        let held = leases.filter { $0.value.worker == index }
            .map { FleetLease(number: $0.value.number, first: $0.key, batch: batch) }
        let change = workers[index].machine.beat(held, deadline: .seconds(now + Self.lasting - Self.margin))
        workers[index].running.formUnion(workers[index].stopped)
        workers[index].running.subtract(change.lost)
        workers[index].stopped = []
        for key in workers[index].running { check(key, index) }
    }

    private func check(_ key: RowKey, _ index: Int) {
        for other in workers.indices where other != index {
            #expect(!workers[other].running.contains(key), "two workers run row \(key.number)")
        }
    }

    private mutating func run(_ index: Int) throws {
        // A fenced worker has stopped its files; they run again once it may.
        for row in workers[index].machine.start(most: 30, at: .seconds(now), mayStart: { _ in true }) {
            check(row.key, index)
            workers[index].running.insert(row.key)
        }
        guard !workers[index].machine.isFenced(at: .seconds(now)) else { return }
        for key in workers[index].running.sorted(by: { $0.number < $1.number })
        where Int.random(in: 0..<3, using: &generator) > 0 {
            guard let row = workers[index].machine.row(key) else { continue }
            workers[index].running.remove(key)
            _ = workers[index].machine.end(key, FleetResult(key: key, lease: row.lease, line: "{}"))
        }
    }
}
