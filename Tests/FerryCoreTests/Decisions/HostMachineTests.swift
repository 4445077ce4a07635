import Testing

@testable import FerryCore

@Suite("HostMachine", .timeLimit(.minutes(30)))
struct HostMachineTests {
    private func origin(_ host: String, port: Int = 443) -> Origin { Origin(scheme: .https, host: host, port: port) }

    private let refused = HostHealth.Cause("connection refused", code: .network)

    // MARK: Requests

    @Test("HostMachine: requests to a host with a delay are promised times, the delay apart, at most 1 s ahead")
    func promises() {
        var machine = HostMachine(.init(host: HostBudget(delay: .milliseconds(400))))
        let host = origin("h")
        #expect(machine.request(to: host, at: .zero) == .now)
        #expect(machine.request(to: host, at: .zero) == .reserved(at: .milliseconds(400)))
        #expect(machine.request(to: host, at: .zero) == .reserved(at: .milliseconds(800)))
        #expect(
            machine.request(to: host, at: .zero)
                == .later(at: .milliseconds(1200), .hostBudgetSpaced("h", .milliseconds(400))))
        #expect(machine.request(to: origin("other"), at: .zero) == .now)
        // Another port is the same host.
        let port = origin("h", port: 8443)
        #expect(machine.request(to: port, at: .milliseconds(300)) == .reserved(at: .milliseconds(1200)))
    }

    @Test("HostMachine: a request after a redirect waits for a long delay, since its chain would begin anew")
    func continued() {
        var machine = HostMachine(.init(host: HostBudget(delay: .seconds(5))))
        let host = origin("h")
        #expect(machine.request(to: host, at: .zero) == .now)
        #expect(machine.request(to: host, at: .zero) == .reserved(at: .seconds(5)))
        #expect(machine.request(to: host, at: .zero) == .later(at: .seconds(10), .hostBudgetSpaced("h", .seconds(5))))
        #expect(machine.request(to: host, continues: true, at: .zero) == .reserved(at: .seconds(10)))
    }

    @Test("HostMachine: a request that wakes up late moves those that are promised the times after it")
    func lateWakeUp() {
        var machine = HostMachine(.init(host: HostBudget(delay: .milliseconds(400))))
        let host = origin("h")
        #expect(machine.request(to: host, at: .zero) == .now)
        #expect(machine.request(to: host, at: .zero) == .reserved(at: .milliseconds(400)))
        #expect(machine.request(to: host, at: .zero) == .reserved(at: .milliseconds(800)))
        #expect(machine.confirm(host, at: .milliseconds(700)) == .now)
        #expect(machine.confirm(host, at: .milliseconds(800)) == .reserved(at: .milliseconds(1100)))
        #expect(machine.confirm(host, at: .milliseconds(1100)) == .now)
    }

    @Test("HostMachine: Retry-After holds all requests and downloads of the origin, and of no other port")
    func held() {
        var machine = HostMachine()
        let host = origin("h")
        #expect(machine.answered(host, status: 503, hold: .seconds(30), at: .zero) == true)
        #expect(
            machine.request(to: host, at: .seconds(1)) == .later(at: .seconds(30), .hostAsksToWait("h", status: 503)))
        let wait = HostWait.asked(status: 503, until: .seconds(30))
        #expect(machine.opening(of: host, at: .seconds(1)) == .shut(until: .seconds(30), wait))
        #expect(machine.opening(of: origin("h", port: 80), at: .seconds(1)) == .open)
        // The user's wish does.
        var wanted = machine
        #expect(wanted.tryNow(at: .seconds(1)) { $0.host == "other" } == false)
        #expect(wanted.tryNow(at: .seconds(1)) { $0 == host } == true)
        #expect(wanted.request(to: host, at: .seconds(1)) == .now)
        #expect(wanted.opening(of: host, at: .seconds(1)) == .open)
        // A response to an earlier request does not shorten it.
        #expect(machine.answered(host, status: 200, hold: nil, at: .seconds(2)) == false)
        #expect(machine.request(to: host, at: .seconds(29)) == .reserved(at: .seconds(30)))
        #expect(machine.opening(of: host, at: .seconds(30)) == .open)
    }

    @Test("HostMachine: a body ends the delay that a response before it has requested, as one after it is none")
    func served() {
        let host = origin("h")
        var machine = HostMachine()
        _ = machine.answered(host, status: 503, hold: .seconds(600), at: .zero)
        #expect(machine.isHeld(host, at: .seconds(1)))
        #expect(machine.receives(host, at: .seconds(1)) == true)
        #expect(!machine.isHeld(host, at: .seconds(1)))
        #expect(machine.opening(of: host, at: .seconds(1)) == .open)
        #expect(machine.request(to: host, at: .seconds(1)) == .now)
        #expect(machine.receives(host, at: .seconds(1)) == false)
        // Afterwards, a further one counts.
        machine.received(host)
        machine.received(host)
        #expect(machine.answered(host, status: 429, hold: .seconds(9), at: .seconds(2)) == true)
        #expect(machine.isHeld(host, at: .seconds(3)))
    }

    @Test("HostMachine: a start that was counted for an assumed server counts for the real one, if that one permits it")
    func corrected() {
        var machine = HostMachine(.init(host: HostBudget(connections: 1)))
        let (assumed, real) = (origin("h"), origin("h", port: 80))
        machine.began(assumed, at: .zero)
        // The budget of the host has permitted the start already.
        #expect(machine.corrected(assumed, to: real, at: .zero) == true)
        #expect(machine.opening(of: real, at: .zero) == .shut(until: nil, .full(connections: 1)))
        machine.ended(real, at: .zero)
        _ = machine.answered(real, status: 503, hold: .seconds(30), at: .zero)
        machine.began(assumed, at: .seconds(1))
        #expect(machine.corrected(assumed, to: real, at: .seconds(1)) == false)
        #expect(machine.opening(of: assumed, at: .seconds(1)) == .open, "the start does not count")
        // Another host has a budget of its own; with mirrors, there is no server.
        let other = origin("other")
        machine.began(other, at: .seconds(1))
        machine.began(assumed, at: .seconds(1))
        #expect(machine.corrected(assumed, to: other, at: .seconds(1)) == false)
        machine.began(assumed, at: .seconds(1))
        #expect(machine.corrected(assumed, to: nil, at: .seconds(1)) == true)
        #expect(machine.opening(of: assumed, at: .seconds(1)) == .open)
    }

    @Test("HostMachine: Retry-After for a surplus connection does not hold an origin that serves another one")
    func surplus() {
        var machine = HostMachine()
        let host = origin("h")
        #expect(machine.receives(host, at: .zero) == false)
        #expect(machine.receives(host, at: .zero) == false)
        machine.received(host)
        #expect(machine.answered(host, status: 503, hold: .seconds(600), at: .zero) == false)
        #expect(machine.request(to: host, at: .seconds(1)) == .now)
        machine.received(host)
        #expect(machine.answered(host, status: 503, hold: .seconds(600), at: .seconds(2)) == true)
        #expect(
            machine.request(to: host, at: .seconds(3)) == .later(at: .seconds(602), .hostAsksToWait("h", status: 503)))
    }

    @Test("HostMachine: a spent total lets nothing start until a budget is set again")
    func totals() {
        var machine = HostMachine()
        let host = origin("h")
        machine.set(HostBudget(requests: 2), for: .host("h"))
        #expect(machine.request(to: host, at: .zero) == .now)
        #expect(machine.request(to: host, at: .zero) == .now)
        #expect(machine.opening(of: host, at: .zero) == .shut(until: nil, .spent))
        #expect(machine.request(to: host, at: .zero) == .later(at: .seconds(10), .hostBudgetSpent("h")))
        machine.set(HostBudget(bytes: 1000), for: .host("h"))
        #expect(machine.request(to: host, at: .zero) == .now)
        machine.received(999, from: "h")
        #expect(machine.opening(of: host, at: .zero) == .open)
        machine.received(1, from: "h")
        #expect(machine.opening(of: host, at: .zero) == .shut(until: nil, .spent))
        machine.set(nil, for: .host("h"))
        #expect(machine.opening(of: host, at: .zero) == .open)
    }

    // MARK: Downloads

    @Test("HostMachine: a host has as many runs as connections, and so has a domain over all its hosts")
    func runs() {
        var machine = HostMachine(.init(host: HostBudget(connections: 2), domain: HostBudget(connections: 3)))
        let (a, b) = (origin("a.example.co.uk"), origin("b.example.co.uk"))
        for _ in 0..<2 {
            #expect(machine.opening(of: a, at: .zero) == .open)
            machine.began(a, at: .zero)
        }
        #expect(machine.opening(of: a, at: .zero) == .shut(until: nil, .full(connections: 2)))
        machine.began(b, at: .zero)
        #expect(machine.opening(of: b, at: .zero) == .shut(until: nil, .full(connections: 3)))
        #expect(machine.opening(of: origin("example.org.uk"), at: .zero) == .open)
        machine.ended(a, at: .zero)
        #expect(machine.opening(of: b, at: .zero) == .open)
    }

    @Test("HostMachine: hosts that are idle are forgotten, those that are used or down are not")
    func forgets() {
        var machine = HostMachine(.init(host: HostBudget(delay: .seconds(1))))
        machine.began(origin("used"), at: .zero)
        _ = machine.failed(origin("down"), refused, since: .zero, at: .zero)
        for number in 0..<3 * HostMachine.mostIdle {
            let host = origin("h\(number)")
            let now = Duration.seconds(2 * number)
            machine.began(host, at: now)
            _ = machine.request(to: host, at: now)
            machine.ended(host, at: now)
        }
        #expect(machine.count <= HostMachine.mostIdle + 4)
        #expect(machine.isDown(origin("down")))
    }

    // MARK: Against a world

    @Test(
        "HostMachine: with random hosts and budgets no delay, total or number of runs is exceeded at any time",
        arguments: 0..<20)
    func world(seed: UInt64) {
        var world = HostWorld(seed: seed)
        for _ in 0..<300 { world.step() }
        #expect(world.problems == [], "seed \(seed)")
        world.finish()
        #expect(world.problems == [], "seed \(seed), at the end")
    }
}

/// Downloads of random hosts, each of which begins, sends some requests, and ends.
private struct HostWorld {
    private var machine: HostMachine
    private var random: SeededBytes
    private var now = Duration.zero
    private(set) var problems: [String] = []
    private let delays: [Duration?]
    private let limits: [Int?]
    private let domainLimit: Int?
    private let totals: [Int?]
    /// The requests that each host's running downloads still have to send.
    private var running: [Int: [Int]] = [:]
    private var waiting: [Int] = []
    private var sent: [Int: [Duration]] = [:]
    private var promised: [(host: Int, at: Duration)] = []

    init(seed: UInt64) {
        var random = SeededBytes(seed: seed)
        delays = (0..<6).map { _ in
            Bool.random(using: &random) ? .milliseconds(Int.random(in: 1...900, using: &random)) : nil
        }
        limits = (0..<6).map { _ in Bool.random(using: &random) ? Int.random(in: 1...3, using: &random) : nil }
        totals = (0..<6).map { _ in
            Int.random(in: 0..<4, using: &random) == 0 ? Int.random(in: 0...9, using: &random) : nil
        }
        domainLimit = Bool.random(using: &random) ? Int.random(in: 1...4, using: &random) : nil
        machine = HostMachine(.init(domain: HostBudget(connections: domainLimit)))
        for host in 0..<6 {
            machine.set(
                HostBudget(connections: limits[host], delay: delays[host], requests: totals[host]),
                for: .host(Self.name(host)))
        }
        waiting = (0..<40).map { _ in Int.random(in: 0..<6, using: &random) }
        self.random = random
    }

    /// Three hosts in each of two domains.
    private static func name(_ host: Int) -> String { "h\(host).d\(host / 3).com" }
    private func origin(_ host: Int) -> Origin { Origin(scheme: .https, host: Self.name(host), port: 443) }

    mutating func step() {
        now += .milliseconds(Int.random(in: 0...120, using: &random))
        start()
        send()
    }

    /// Runs until nothing is left but what the totals forbid.
    mutating func finish() {
        for _ in 0..<4000 where !waiting.isEmpty || running.values.contains(where: { !$0.isEmpty }) { step() }
        // A download of a host whose total is spent keeps its connection of the domain.
        let bounded = Set((0..<6).filter { totals[$0] != nil }.map { $0 / 3 })
        for host in Set(waiting) where !bounded.contains(host / 3) { problems.append("host \(host) starves") }
        for (host, left) in running where !left.isEmpty && totals[host] == nil { problems.append("host \(host) hangs") }
    }

    private mutating func start() {
        for (index, host) in waiting.enumerated().reversed() where machine.opening(of: origin(host), at: now) == .open {
            waiting.remove(at: index)
            machine.began(origin(host), at: now)
            running[host, default: []].append(Int.random(in: 1...3, using: &random))
            if let most = limits[host], running[host]!.count > most { problems.append("runs of \(host)") }
            let ofDomain = (0..<6).filter { $0 / 3 == host / 3 }.reduce(0) { $0 + (running[$1]?.count ?? 0) }
            if let most = domainLimit, ofDomain > most { problems.append("runs of the domain of \(host)") }
        }
    }

    private mutating func send() {
        for (index, promise) in promised.enumerated().reversed() where promise.at <= now {
            promised.remove(at: index)
            take(machine.confirm(origin(promise.host), at: now), of: promise.host)
        }
        for host in running.keys.sorted() {
            let free = running[host]!.count - promised.count { $0.host == host }
            for _ in 0..<max(0, free) where Bool.random(using: &random) {
                take(machine.request(to: origin(host), at: now), of: host)
            }
        }
    }

    private mutating func take(_ turn: HostMachine.Turn, of host: Int) {
        switch turn {
        case .later: break
        case .reserved(let time): promised.append((host, time))
        case .now:
            if let delay = delays[host], let last = sent[host]?.last, now - last < delay {
                problems.append("host \(host) gets a request \(now - last) after the last, not \(delay)")
            }
            sent[host, default: []].append(now)
            if let most = totals[host], sent[host]!.count > most { problems.append("total of \(host)") }
            guard var left = running[host], !left.isEmpty else { return }
            left[0] -= 1
            if left[0] <= 0 {
                left.removeFirst()
                machine.ended(origin(host), at: now)
            }
            running[host] = left
        }
    }
}
