import FerryCore
import FerryTesting
import Synchronization
import Testing

@testable import Ferry

/// A gate over a machine, as the engine's.
private final class MachineGate: HostGate, Sendable {
    let machine: Mutex<HostMachine>
    init(_ settings: HostMachine.Settings = .init()) { machine = Mutex(HostMachine(settings)) }

    func opening(of origin: Origin, at now: Duration) -> HostOpening {
        machine.withLock { $0.opening(of: origin, at: now) }
    }
    func began(_ origin: Origin, at now: Duration) { machine.withLock { $0.began(origin, at: now) } }
}

@Suite("QueueMachine: servers", .timeLimit(.minutes(30)))
struct QueueHostTests {
    private func origin(_ host: String) -> Origin { Origin(scheme: .https, host: host, port: 443) }
    private func id(_ text: String) -> DownloadID { DownloadID(rawValue: text) }

    private func add(
        _ ids: [String], of host: String, priority: DownloadPriority = .normal, to queue: inout QueueMachine
    ) {
        for text in ids {
            queue.enter(id(text), key: queue.takeKey(priority), host: host, origin: origin(host), as: .queued)
        }
    }

    private func queue(limit: Int, isSharing: Bool = true) -> QueueMachine {
        var queue = QueueMachine(limit: limit)
        queue.set(sharesSlotsByHost: isSharing)
        return queue
    }

    @Test("QueueMachine: one server has half of the slots while a download of another waits, and all of them otherwise")
    func shares() {
        var queue = queue(limit: 5)
        add((0..<9).map { "a\($0)" }, of: "a", to: &queue)
        #expect(queue.decide(at: .zero).start.count == 5)
        add(["b0", "b1", "b2"], of: "b", to: &queue)
        #expect(queue.decide(at: .zero).start == [])
        queue.ended(id("a0"))
        #expect(queue.decide(at: .zero).start == [id("b0")])
        queue.ended(id("a1"))
        #expect(queue.decide(at: .zero).start == [id("b1")])
        // Now the first server has its share, and is before the other.
        queue.ended(id("a2"))
        #expect(queue.decide(at: .zero).start == [id("a5")])
        queue.ended(id("b0"))
        #expect(queue.decide(at: .zero).start == [id("b2")])
        queue.ended(id("b1"))
        #expect(queue.decide(at: .zero).start == [id("a6")])
    }

    @Test("QueueMachine: while other servers are expected, slots beyond a server's share stay free for them")
    func expected() {
        var queue = queue(limit: 4)
        queue.set(expectsOtherHosts: true)
        add((0..<9).map { "a\($0)" }, of: "a", to: &queue)
        #expect(queue.decide(at: .zero).start == [id("a0"), id("a1")])
        add(["b0"], of: "b", to: &queue)
        #expect(queue.decide(at: .zero).start == [id("b0")])
        queue.set(expectsOtherHosts: false)
        #expect(queue.decide(at: .zero).start == [id("a2")])
    }

    @Test("QueueMachine: a server's share gives way to no download of a lower priority")
    func priority() {
        var queue = queue(limit: 2)
        add(["a0", "a1"], of: "a", priority: .high, to: &queue)
        add(["b0"], of: "b", to: &queue)
        #expect(queue.decide(at: .zero).start == [id("a0"), id("a1")])
    }

    @Test("QueueMachine: 100,000 downloads of a server that must wait cost the others nothing")
    func passedOver() {
        let gate = MachineGate()
        gate.machine.withLock { _ = $0.answered(origin("slow"), status: 503, hold: .seconds(60), at: .zero) }
        var queue = queue(limit: 3)
        add((0..<100_000).map { "s\($0)" }, of: "slow", to: &queue)
        add(["b0", "b1"], of: "b", to: &queue)
        let decision = queue.decide(at: .zero, hosts: gate)
        #expect(decision.start == [id("b0"), id("b1")])
        #expect(decision.nextWake == .seconds(60))
        for number in 0..<10_000 {
            queue.ended(id("b\(number)"))
            add(["b\(number + 2)"], of: "b", to: &queue)
            #expect(queue.decide(at: .seconds(1), hosts: gate).start == [id("b\(number + 2)")])
        }
        #expect(queue.decide(at: .seconds(60), hosts: gate).start == [id("s0")])
    }

    @Test("QueueMachine: a server that was given up ends its downloads, and the others run")
    func refused() {
        let gate = MachineGate(.init(mostIncidents: 1))
        let cause = HostHealth.Cause("connection refused", code: .network)
        var queue = queue(limit: 2)
        add(["d0", "d1", "d2"], of: "dead", to: &queue)
        add(["b0"], of: "b", to: &queue)
        #expect(queue.decide(at: .zero, hosts: gate).start == [id("d0"), id("b0")])
        gate.machine.withLock {
            _ = $0.failed(origin("dead"), cause, since: .zero, at: .seconds(1))
            $0.ended(origin("dead"), at: .seconds(1))
        }
        queue.ended(id("d0"))
        let decision = queue.decide(at: .seconds(1), hosts: gate)
        #expect(decision.start == [id("d1")])
        #expect(decision.refused[id("d1")]?.reason == .givenUp(cause, attempts: 1))
    }

    @Test("QueueMachine: where the list does not wait for servers, downloads of one that is down end with that reason")
    func absent() {
        let gate = MachineGate(.init(mostIncidents: 3))
        let cause = HostHealth.Cause("connection refused", code: .network)
        var queue = queue(limit: 2)
        queue.set(waitsForServers: false)
        add(["d0", "d1"], of: "dead", to: &queue)
        #expect(queue.decide(at: .zero, hosts: gate).start == [id("d0"), id("d1")])
        gate.machine.withLock { _ = $0.failed(origin("dead"), cause, since: .zero, at: .seconds(1)) }
        queue.ended(id("d0"))
        queue.ended(id("d1"))
        add(["d2"], of: "dead", to: &queue)
        var decision = queue.decide(at: .seconds(1), hosts: gate)
        let wait = HostWait.silent(cause, since: .seconds(1), until: .seconds(2))
        #expect(decision.start == [id("d2")])
        #expect(decision.refused[id("d2")]?.reason == .absent(wait))
        queue.ended(id("d2"))
        // One tries at its time, the others end while it does.
        add(["d3", "d4"], of: "dead", to: &queue)
        decision = queue.decide(at: .seconds(2), hosts: gate)
        #expect(decision.start == [id("d3"), id("d4")])
        #expect(decision.refused[id("d3")] == nil)
        let probe = HostWait.silent(cause, since: .seconds(1), until: nil)
        #expect(decision.refused[id("d4")]?.reason == .absent(probe))
    }

    @Test("QueueMachine: a list that does not wait for servers waits for budgets all the same")
    func budgeted() {
        let gate = MachineGate(.init(host: HostBudget(connections: 1)))
        var queue = queue(limit: 2)
        queue.set(waitsForServers: false)
        add(["a0", "a1"], of: "a", to: &queue)
        let decision = queue.decide(at: .zero, hosts: gate)
        #expect(decision.start == [id("a0")])
        #expect(decision.refused == [:])
    }

    @Test(
        "QueueMachine: with random servers, slow, dead or asking to wait, all downloads end, within budgets and few attempts",
        arguments: 0..<24)
    func world(seed: UInt64) {
        var world = QueueHostWorld(seed: seed)
        world.run()
        #expect(world.problems == [], "seed \(seed)")
    }

    // MARK: Why they wait

    @Test("QueueMachine: a download says what its server does, and one that lacks a slot that it lacks a slot")
    func standing() {
        let gate = MachineGate()
        gate.machine.withLock { _ = $0.answered(origin("slow"), status: 429, hold: .seconds(60), at: .zero) }
        var queue = queue(limit: 1)
        add(["s0", "s1"], of: "slow", to: &queue)
        add(["b0", "b1"], of: "b", to: &queue)
        #expect(queue.hindrance(of: id("s0")) == .slot, "nobody has asked for it yet")
        let decision = queue.decide(at: .zero, hosts: gate)
        #expect(decision.start == [id("b0")])
        let wait = HostWait.asked(status: 429, until: .seconds(60))
        #expect(queue.hindrance(of: id("s0")) == .server(origin("slow"), wait))
        #expect(queue.hindrance(of: id("s1")) == .server(origin("slow"), wait))
        #expect(queue.hindrance(of: id("b1")) == .slot)
        #expect(decision.told == [id("s0"), id("s1")])
        #expect(queue.decide(at: .seconds(1), hosts: gate).told == [], "it is known")
        // It opens, and the slots are taken.
        #expect(queue.decide(at: .seconds(60), hosts: gate).told == [id("s0"), id("s1")])
        #expect(queue.hindrance(of: id("s1")) == .slot)
    }

    @Test("QueueMachine: the place of a download is the number of those that get a slot before it")
    func place() {
        let gate = MachineGate()
        gate.machine.withLock { _ = $0.answered(origin("slow"), status: 503, hold: .seconds(60), at: .zero) }
        var queue = queue(limit: 1)
        add(["b0"], of: "b", to: &queue)
        add(["s0"], of: "slow", to: &queue)
        add(["b1", "b2"], of: "b", to: &queue)
        add(["h0"], of: "b", priority: .high, to: &queue)
        _ = queue.decide(at: .zero, hosts: gate)
        #expect(queue.countBefore(id("h0")) == nil, "it runs")
        #expect(queue.countBefore(id("b0")) == 0)
        #expect(queue.countBefore(id("b2")) == 3)
        queue.ended(id("h0"))
        // The first runs, and the server of the second turns out to have requested a delay.
        #expect(queue.decide(at: .zero, hosts: gate).start == [id("b0")])
        queue.ended(id("b0"))
        #expect(queue.decide(at: .zero, hosts: gate).start == [id("b1")])
        #expect(queue.countBefore(id("b2")) == 0)
        #expect(queue.slotsTaken == 1)
    }

    @Test("QueueMachine: a server that does not answer is named with what failed, since when, and the next attempt")
    func silent() {
        let gate = MachineGate()
        let cause = HostHealth.Cause("connection refused", code: .network)
        gate.machine.withLock { _ = $0.failed(origin("dead"), cause, since: .zero, at: .seconds(1)) }
        var queue = queue(limit: 4)
        add(["d0", "d1"], of: "dead", to: &queue)
        _ = queue.decide(at: .seconds(1), hosts: gate)
        let wait = HostWait.silent(cause, since: .seconds(1), until: .seconds(2))
        #expect(queue.hindrance(of: id("d1")) == .server(origin("dead"), wait))
        // One tries, and the other waits for it.
        #expect(queue.decide(at: .seconds(2), hosts: gate).start == [id("d0")])
        let tries = HostWait.silent(cause, since: .seconds(1), until: nil)
        #expect(queue.hindrance(of: id("d1")) == .server(origin("dead"), tries))
        #expect(queue.hindrance(of: id("d0")) == nil)
    }

    @Test("QueueMachine: a host's budget is the reason of what it keeps waiting, a share of the slots is not")
    func budget() {
        let gate = MachineGate(.init(host: HostBudget(connections: 1)))
        var queue = queue(limit: 3)
        add(["a0", "a1"], of: "a", to: &queue)
        #expect(queue.decide(at: .zero, hosts: gate).start == [id("a0")])
        #expect(queue.hindrance(of: id("a1")) == .server(origin("a"), .full(connections: 1)))
        var sharing = self.queue(limit: 2)
        add(["a0", "a1", "b0"], of: "a", to: &sharing)
        add(["c0", "c1"], of: "c", to: &sharing)
        #expect(sharing.decide(at: .zero, hosts: MachineGate()).start == [id("a0"), id("c0")])
        #expect(sharing.hindrance(of: id("a1")) == .slot)
    }

    @Test("QueueMachine: what a server with 100,000 downloads does is told rarely, and at last as it is")
    func flapping() {
        let gate = MachineGate()
        var queue = queue(limit: 1)
        add((0..<100_000).map { "s\($0)" }, of: "slow", to: &queue)
        add(["b0"], of: "b", to: &queue)
        var told = 0
        var now = Duration.zero
        for _ in 0..<1000 {
            // The server requests a delay, and is tried again ten times a second.
            gate.machine.withLock { _ = $0.answered(origin("slow"), status: 503, hold: .milliseconds(50), at: now) }
            queue.hostsChanged()
            let first = queue.decide(at: now, hosts: gate)
            told += first.told.count
            now += .milliseconds(100)
            let second = queue.decide(at: now, hosts: gate)
            told += second.told.count
            for started in first.start + second.start {
                queue.take(.rest(.queued), of: started)
                queue.take(.stop, of: started)
                queue.stopped(started)
            }
        }
        #expect(told <= 200_000)
        gate.machine.withLock { _ = $0.tryNow(at: now) { $0 == origin("slow") } }
        queue.hostsChanged()
        _ = queue.decide(at: now + .seconds(1000), hosts: gate)
        #expect(queue.hindrance(of: id("s99999")) == .slot)
    }

    @Test("WaitNews: what was told is followed by a pause for each download, and a long line's times are not told")
    func news() {
        var news = WaitNews()
        func asked(_ seconds: Int) -> HostWait { .asked(status: 503, until: .seconds(seconds)) }
        func take(_ waits: [QueuedSites.Number: HostWait], at now: Duration) -> [QueuedSites.Number] {
            news.touched(1)
            news.touched(2)
            return news.take(at: now, waits, size: { $0 == 1 ? 10 : 3000 }).sorted()
        }
        #expect(take([1: asked(60), 2: asked(60)], at: .zero) == [1, 2])
        #expect(take([:], at: .milliseconds(3009)) == [])
        #expect(news.next == .milliseconds(3010))
        // Meanwhile it asked again: only the short line hears of it.
        #expect(take([1: asked(90), 2: asked(90)], at: .milliseconds(3010)) == [1])
        #expect(take([:], at: .milliseconds(3020)) == [1, 2])
        #expect(news.next == nil)
    }
}

/// A one-shot list of random servers, whose downloads run as long as their servers say.
private struct QueueHostWorld {
    private enum Kind { case fast, slow, dead, waits }

    private var queue: QueueMachine
    private let gate: MachineGate
    private var random: SeededGenerator
    private let kinds: [Kind]
    private let limit: Int
    private let perHost: Int
    private var now = Duration.zero
    /// The ends of running downloads, and whether they connect.
    private var ends: [(id: DownloadID, host: Int, begun: Duration, at: Duration)] = []
    private var left: [Int: Int] = [:]
    private var attempts: [Int: Int] = [:]
    private var starts: [Int: [Duration]] = [:]
    private var delay: Duration
    private(set) var problems: [String] = []

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let all: [Kind] = [.fast, .slow, .dead, .waits]
        kinds = (0..<5).map { _ in all[Int.random(in: 0..<4, using: &random)] }
        limit = Int.random(in: 2...6, using: &random)
        perHost = Int.random(in: 1...4, using: &random)
        delay = .milliseconds(Int.random(in: 1...300, using: &random))
        gate = MachineGate(.init(host: HostBudget(connections: perHost, delay: delay), mostIncidents: 10))
        queue = QueueMachine(limit: limit)
        queue.set(sharesSlotsByHost: true)
        // Sorted by host.
        for host in 0..<5 {
            for number in 0..<Int.random(in: 1...200, using: &random) {
                queue.enter(
                    DownloadID(rawValue: "\(host)-\(number)"), key: queue.takeKey(.normal), host: "h\(host)",
                    origin: Self.origin(host), as: .queued)
                left[host, default: 0] += 1
            }
        }
        self.random = random
    }

    private static func origin(_ host: Int) -> Origin { Origin(scheme: .https, host: "h\(host).example", port: 443) }
    private static func host(of id: DownloadID) -> Int { Int(id.rawValue.prefix { $0 != "-" }) ?? 0 }

    mutating func run() {
        for _ in 0..<20_000 where problems.isEmpty && !left.isEmpty {
            let wake = decide()
            let next = [wake, ends.map(\.at).min()].compactMap(\.self).min()
            guard let next else {
                problems.append("nothing happens any more; left: \(left)")
                return
            }
            now = max(now, next)
            for (index, end) in ends.enumerated().reversed() where end.at <= now {
                ends.remove(at: index)
                finish(end)
            }
        }
        if !left.isEmpty { problems.append("left: \(left)") }
        for (host, count) in attempts where kinds[host] == .dead && count > perHost + 10 {
            problems.append("\(count) attempts at a dead server")
        }
    }

    private mutating func decide() -> Duration? {
        let decision = queue.decide(at: now, hosts: gate)
        for id in decision.start {
            let host = Self.host(of: id)
            if decision.refused[id] != nil {
                queue.ended(id)
                count(host)
                continue
            }
            if let last = starts[host]?.last, now - last < delay { problems.append("starts of \(host)") }
            starts[host, default: []].append(now)
            attempts[host, default: 0] += 1
            let time: Duration =
                switch kinds[host] {
                case .fast, .waits: .milliseconds(Int.random(in: 1...50, using: &random))
                case .slow: .seconds(30)
                case .dead: .seconds(15)
                }
            ends.append((id, host, now, now + time))
            if ends.count { $0.host == host } > perHost { problems.append("runs of \(host)") }
            if ends.count > limit { problems.append("runs") }
        }
        if decision.refused.isEmpty { return decision.nextWake }
        return now
    }

    private mutating func finish(_ end: (id: DownloadID, host: Int, begun: Duration, at: Duration)) {
        let (gate, origin, now) = (gate, Self.origin(end.host), now)
        switch kinds[end.host] {
        case .fast, .slow:
            gate.machine.withLock { _ = $0.answered(origin, status: 200, hold: nil, at: now) }
            queue.ended(end.id)
            count(end.host)
        case .waits where Int.random(in: 0..<4, using: &random) == 0:
            gate.machine.withLock { _ = $0.answered(origin, status: 503, hold: .seconds(5), at: now) }
            queue.take(.rest(.waiting(until: now + .seconds(5))), of: end.id)
            queue.stopped(end.id)
        case .waits:
            gate.machine.withLock { _ = $0.answered(origin, status: 200, hold: nil, at: now) }
            queue.ended(end.id)
            count(end.host)
        case .dead:
            let cause = HostHealth.Cause("no connection in time", code: .network)
            gate.machine.withLock { _ = $0.failed(origin, cause, since: end.begun, at: now) }
            queue.take(.rest(.waiting(until: now + .seconds(1))), of: end.id)
            queue.stopped(end.id)
        }
        gate.machine.withLock { $0.ended(origin, at: now) }
        queue.hostsChanged()
    }

    private mutating func count(_ host: Int) {
        left[host] = (left[host] ?? 0) > 1 ? left[host]! - 1 : nil
    }
}
