import HTTPTypes
import Testing

@testable import FerryCore

@Suite("TransferMachine: stalled and slow servers", .timeLimit(.minutes(30)))
struct TransferMachineStallTests: ScenarioSuite {
    @Test("TransferMachine: the tail of a silent connection is taken over by another one")
    func silentTail() {
        for seed in 0..<30 {
            let (world, outcome) = run(
                origin { ($0.size, $0.connectionRate, $0.stalls) = (300 << 20, 4e6, 0.01) }, seed: UInt64(seed))
            #expect(outcome == .finished && world.now < 90, "seed \(seed): \(world.now)")
        }
    }

    @Test("TransferMachine: a server that falls silent on its only connection is given up")
    func silence() {
        let (_, outcome) = run(origin { ($0.stalls, $0.ranges, $0.validator) = (1000, .ignored, .none) })
        #expect(code(outcome) == .network)
    }

    /// Each byte reset the timeout: a server that sent one per second was never given up.
    @Test("TransferMachine: a trickling body is cut at the stall timeout each time")
    func drops() {
        let (world, _) = run(
            origin { ($0.size, $0.connectionRate) = (1 << 20, 40) },
            settings: { ($0.stallTimeout, $0.maxConnections) = (.seconds(20), 1) })
        let stalls = world.events.count { if case .note(let text) = $0 { text.contains("stalled") } else { false } }
        #expect(stalls > 50)
    }

    @Test(
        "TransferMachine: trickling bodies on all connections count as attempts and end the download", arguments: 0..<6)
    func dropsOnMany(seed: UInt64) {
        let (world, outcome) = run(
            origin { ($0.size, $0.connectionRate) = (8 << 20, 1) },
            settings: { ($0.stallTimeout, $0.maxRetries) = (.seconds(3), 2) }, seed: seed)
        #expect(code(outcome) == .network)
        // Three times three seconds, and two back-offs between.
        #expect(world.now < 60, "\(world.now)")
        let retries = world.events.count { if case .retrying = $0 { true } else { false } }
        #expect(retries == 2)
    }

    @Test("TransferMachine: a connection below the least speed is replaced, and none of it is a failed attempt")
    func belowLeastSpeed() {
        let (world, outcome) = run(
            origin { ($0.size, $0.connectionRate) = (8 << 20, 100_000) },
            settings: {
                ($0.stallTimeout, $0.leastBytes) = (.seconds(20), 4_000_000)
                ($0.maxConnections, $0.maxRetries) = (1, 0)
            })
        #expect(outcome == .finished && world.restarts == 0 && world.isOfOnePiece)
        func notes(_ part: String) -> Int {
            world.events.count { if case .note(let text) = $0 { text.contains(part) } else { false } }
        }
        #expect(notes("slower than 200.0 KB/s") >= 3 && notes("stalled") == 0)
        #expect(!world.events.contains { if case .retrying = $0 { true } else { false } })
    }

    @Test("TransferMachine: bodies that break under a high least speed are progress")
    func brokenBelowLeastSpeed() {
        let (world, outcome) = run(
            origin { ($0.size, $0.breaks, $0.connectionRate) = (64 << 20, 0.2, 50e6) },
            settings: {
                ($0.stallTimeout, $0.leastBytes) = (.seconds(60), 60_000_000)
                ($0.maxConnections, $0.maxRetries) = (1, 2)
            })
        #expect(outcome == .finished && world.isOfOnePiece)
    }

    @Test("TransferMachine: a stall beside a working connection counts as no attempt")
    func stallBeside() {
        for seed in 0..<10 {
            let (world, outcome) = run(
                origin { ($0.size, $0.stalls, $0.connectionRate) = (200 << 20, 0.02, 5e6) },
                settings: { ($0.stallTimeout, $0.maxRetries) = (.seconds(3), 3) }, seed: UInt64(seed))
            #expect(outcome == .finished && world.restarts == 0 && world.isOfOnePiece)
        }
    }

    /// A machine with one connection, which has received so many bytes of a file at time zero.
    private func reading(
        _ bytes: ByteCount, of total: ByteCount = 100_000_000, maxConnections: Int, maxRetries: Int? = 10
    ) -> (machine: TransferMachine, id: ConnectionID) {
        var settings = TransferMachine.Settings()
        (settings.maxConnections, settings.claims, settings.maxRetries) = (maxConnections, false, maxRetries)
        var machine = TransferMachine(settings: settings)
        let id = ConnectionID(rawValue: 1)
        let first = machine.tick(at: .zero)
        #expect(first.contains(.open(id)))
        var head = ResponseHead(status: 200)
        head.headers[.eTag] = "\"1\""
        head.headers[.contentLength] = "\(total)"
        _ = machine.next(for: id, at: .zero)
        let whole = ResponseVerdict.whole(Representation(head, total: total))
        _ = machine.headReceived(whole, on: id, at: .zero, random: 0.5)
        machine.arrived(bytes, on: id, at: .zero)
        let placement = machine.place(bytes, on: id)
        #expect(placement == .write(0..<bytes))
        machine.wrote(on: id)
        let goesOn = machine.asks(id, at: .zero)
        #expect(goesOn)
        return (machine, id)
    }

    /// What the machine orders at a time.
    private func commands(_ machine: inout TransferMachine, at seconds: Double) -> [TransferMachine.Command] {
        machine.tick(at: .milliseconds(Int(seconds * 1000)))
    }

    private func range(_ machine: inout TransferMachine, of id: ConnectionID, at seconds: Double) -> Range<ByteCount>? {
        let order = machine.next(for: id, at: .milliseconds(Int(seconds * 1000)))
        guard case .fetch(let fetch) = order, case .range(let range) = fetch.ask, fetch.ifRange == "\"1\"" else {
            return nil
        }
        return range
    }

    @Test("TransferMachine: the only permitted connection is replaced after two silent seconds")
    func silentSingle() {
        var (machine, id) = reading(1 << 20, maxConnections: 1)
        let (early, late) = (commands(&machine, at: 1.9), commands(&machine, at: 2.1))
        #expect(!early.contains(.cut(id)) && late.contains(.cut(id)))
        machine.ended(id, .stopped, at: .milliseconds(2100), random: 0.5)
        machine.left(id, at: .milliseconds(2100))
        let next = ConnectionID(rawValue: 2)
        let afterwards = commands(&machine, at: 2.2)
        #expect(afterwards.contains(.open(next)))
        let rest = range(&machine, of: next, at: 2.2)
        #expect(rest == 1 << 20..<100_000_000)
    }

    @Test("TransferMachine: a silent connection that has brought little stays until the stall timeout")
    func silentSoon() {
        var (machine, id) = reading(32 << 10, maxConnections: 1)
        for second in 1..<60 {
            let found = commands(&machine, at: Double(second))
            #expect(!found.contains(.cut(id)), "\(second)")
        }
        let last = commands(&machine, at: 61)
        #expect(last.contains(.cut(id)))
    }

    @Test("TransferMachine: a wait is a pause from half of the round trip of its own connection")
    func pauses() {
        var (machine, id) = reading(1 << 20, maxConnections: 1)
        machine.observed(nil, rateLimit: nil, at: .zero)
        machine.observed(SocketFacts(shortestTrip: .milliseconds(10)), on: nil)
        machine.observed(nil, rateLimit: nil, at: .milliseconds(1))
        func pauses(after wait: Duration) -> Int {
            var changed = machine
            changed.arrived(1000, on: id, at: wait)
            return changed.presentFacts.times.pauses
        }
        #expect([pauses(after: .milliseconds(4)), pauses(after: .milliseconds(6))] == [0, 1])
        machine.observed(SocketFacts(shortestTrip: .milliseconds(24)), on: id)
        #expect([pauses(after: .milliseconds(11)), pauses(after: .milliseconds(13))] == [0, 1])
    }

    @Test("TransferMachine: a silent server on the same machine is left until the stall timeout")
    func silentBeside() {
        var (machine, id) = reading(1 << 20, maxConnections: 1)
        var socket = SocketFacts()
        socket.shortestTrip = .microseconds(40)
        machine.observed(socket, on: id)
        let (early, last) = (commands(&machine, at: 30), commands(&machine, at: 61))
        #expect(!early.contains(.cut(id)) && last.contains(.cut(id)))
    }

    @Test("TransferMachine: beside a silent connection another fetches the rest, if there may be more")
    func silentOfMany() {
        var (machine, _) = reading(1 << 20, maxConnections: 16)
        let next = ConnectionID(rawValue: 2)
        let found = commands(&machine, at: 2.1)
        #expect(found.contains(.open(next)))
        let rest = range(&machine, of: next, at: 2.1)
        #expect(rest?.lowerBound == 1 << 20)
    }

    @Test(
        "TransferMachine: a connection that fails once all bytes are there costs the file nothing",
        arguments: [true, false])
    func failsLate(isComplete: Bool) throws {
        let (second, total) = (ConnectionID(rawValue: 2), ByteCount(3 << 19))
        var (machine, first) = reading(1 << 20, of: total, maxConnections: 16, maxRetries: 0)
        let opened = commands(&machine, at: 2.1)
        #expect(opened.contains(.open(second)))
        let taken = range(&machine, of: second, at: 2.1)
        #expect(taken == 1 << 20..<total)
        // The second one is not answered, and the first one takes its bytes.
        machine.arrived(1, on: first, at: .milliseconds(4300))
        machine.ended(first, .stopped, at: .milliseconds(4300), random: 0.5)
        let rest = try #require(range(&machine, of: first, at: 4.3))
        #expect(rest == 1 << 20..<total)
        var head = ResponseHead(status: 206)
        head.headers[.eTag] = "\"1\""
        let part = ResponseVerdict.part(rest, Representation(head, total: total))
        let action = machine.headReceived(part, on: first, at: .milliseconds(4400), random: 0.5)
        #expect(action == .read)
        let count = total - rest.lowerBound - (isComplete ? 0 : 1000)
        machine.arrived(count, on: first, at: .milliseconds(4500))
        let placement = machine.place(count, on: first)
        #expect(placement == .write(rest.lowerBound..<rest.lowerBound + count))
        machine.wrote(on: first)
        machine.ended(first, isComplete ? .complete : .broken(Reason(.stalled)), at: .milliseconds(4500), random: 0.5)
        machine.left(first, at: .milliseconds(4500))
        machine.ended(
            second, .failedBeforeHead(Reason(.stalled), isTransient: true), at: .milliseconds(4510), random: 0.5)
        machine.left(second, at: .milliseconds(4510))
        let last = commands(&machine, at: 4.6)
        #expect(last.contains(.finish) == isComplete)
        #expect(last.contains { if case .fail = $0 { true } else { false } } == !isComplete)
    }

    @Test("ResponseLatency: waits for a connection to close do not count as the usual time, slow responses do")
    func usual() {
        var latency = ResponseLatency()
        #expect(latency.usual == .zero)
        latency.record(.milliseconds(10), isFirst: true)
        #expect(latency.usual == .milliseconds(10))
        // A single slow response may be the first of many.
        latency.record(.seconds(20), isFirst: true)
        #expect(latency.usual == .seconds(20))
        for _ in 0..<2 { latency.record(.milliseconds(10), isFirst: false) }
        latency.record(.seconds(30), isFirst: true)
        #expect(latency.usual == .milliseconds(10))
        for _ in 0..<3 { latency.record(.seconds(10), isFirst: false) }
        #expect(latency.usual == .seconds(10))
    }
}
