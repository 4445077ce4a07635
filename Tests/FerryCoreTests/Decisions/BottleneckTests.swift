import Testing

@testable import FerryCore

@Suite("BottleneckPolicy")
struct BottleneckTests {
    /// Three seconds of `count` connections over a round trip of 50 ms, which bring 1 MB/s each and show no limit.
    private func facts(_ count: Int = 4, _ change: (inout TransferFacts) -> Void = { _ in }) -> TransferFacts {
        var facts = TransferFacts()
        facts.seconds = 3
        facts.times.connected = 3 * Double(count)
        facts.bytes = ByteCount(count) * 3_000_000
        for number in 0..<count {
            facts.carried[ConnectionID(rawValue: number)] = 2_000_000 + ByteCount(number) * 700_000
        }
        facts.sockets.segments = count * 2000
        facts.sockets.shortestTrip = 0.05
        (facts.sockets.trips, facts.sockets.windows, facts.sockets.count) = (0.051 * 3, 3_000_000, 3)
        facts.times.silent = facts.times.connected * 0.2
        facts.times.pauses = 10
        change(&facts)
        return facts
    }

    private func cause(_ facts: TransferFacts, isGrowing: Bool = false) -> Bottleneck.Cause? {
        BottleneckPolicy.judge(facts, isGrowing: isGrowing)?.cause
    }

    /// Each connection brought as much as the others.
    private func even(_ facts: inout TransferFacts) { facts.carried = facts.carried.mapValues { _ in 3_000_000 } }

    /// Nothing arrived for most of the time, in `count` pauses.
    private func silent(_ facts: inout TransferFacts, pauses count: Int) {
        facts.times.silent = facts.times.connected * 0.8
        facts.times.pauses = count
    }

    @Test("Bottleneck: facts that show nothing have no cause")
    func unknown() {
        #expect(cause(TransferFacts()) == nil)
        #expect(cause(facts()) == nil)
        #expect(cause(facts { $0.bytes = 0 }) == nil)
    }

    @Test("Bottleneck: each cause is found by its facts, with its numbers")
    func causes() {
        let limited = facts {
            $0.times.limited = $0.times.connected * 0.9
            $0.surroundings.rateLimit = 5_000_000
        }
        #expect(BottleneckPolicy.judge(limited) == Bottleneck(.rateLimit, bytesPerSecond: 5e6))
        let stored = facts { $0.times.stored = $0.times.connected * 0.7 }
        #expect(BottleneckPolicy.judge(stored) == Bottleneck(.disk, bytesPerSecond: 4e6))
        let busy = facts { $0.surroundings.processor = ProcessorFacts(busiest: 0.95, cores: 1.4) }
        #expect(BottleneckPolicy.judge(busy) == Bottleneck(.processor, share: 1.4))
        let late = facts {
            $0.times.awaited = $0.times.connected
            ($0.times.firstByte, $0.bytes) = (4, 0)
        }
        #expect(BottleneckPolicy.judge(late) == Bottleneck(.latency, seconds: 4))
        let bursts = facts { silent(&$0, pauses: 12) }
        #expect(BottleneckPolicy.judge(bursts) == Bottleneck(.perConnection, bytesPerSecond: 1e6, connections: 4))
        let refused = facts {
            silent(&$0, pauses: 12)
            $0.surroundings.ceiling = 4
        }
        #expect(BottleneckPolicy.judge(refused) == Bottleneck(.refusals, bytesPerSecond: 4e6, connections: 4))
        let queued = facts { $0.sockets.trips = 0.09 * 3 }
        #expect(BottleneckPolicy.judge(queued) == Bottleneck(.line, bytesPerSecond: 4e6, connections: 4))
        let saturated = facts { $0.surroundings.gain = 1.02 }
        #expect(BottleneckPolicy.judge(saturated) == Bottleneck(.path, bytesPerSecond: 4e6, connections: 4))
        #expect(cause(facts { $0.sockets.reordered = 2000 }) == .loss)
        let clocked = facts {
            silent(&$0, pauses: 12 * 20)
            $0.sockets.trips = 0.05 * 3
        }
        #expect(
            BottleneckPolicy.judge(clocked)
                == Bottleneck(.sendWindow, connections: 4, seconds: 0.05, windowBytes: 50_000))
        let filled = facts { ($0.sockets.trips, $0.sockets.windows) = (0.05 * 3, 60_000 * 3) }
        #expect(
            BottleneckPolicy.judge(filled)
                == Bottleneck(.receiveWindow, connections: 4, seconds: 0.05, windowBytes: 50_000))
    }

    @Test("Bottleneck: packets that are lost are estimated from those out of order")
    func loss() throws {
        // Of the segments of a round trip, a hundredth is lost; what follows them until they are repeated is out of order.
        let lost = facts(1) {
            $0.sockets.segments = 3000
            $0.sockets.trips = 0.05 * 3
            $0.sockets.reordered = 1180
        }
        let found = try #require(BottleneckPolicy.judge(lost))
        #expect(found.cause == .loss)
        #expect(abs((found.share ?? 0) - 0.01) < 0.001)
        #expect(try #require(BottleneckPolicy.judge(facts { $0.sockets.reordered = $0.sockets.segments })?.share) <= 1)
    }

    @Test("Bottleneck: connections that bring equally much are limited by the server, even if its bursts fill the line")
    func bursts() {
        let bursts = facts(8) {
            even(&$0)
            $0.sockets.trips = 0.12 * 3
            $0.sockets.reordered = $0.sockets.segments / 2
        }
        #expect(cause(bursts) == .perConnection)
        #expect(cause(facts(8, even)) == .perConnection)
        // Bursts of many connections leave the line idle between them, however uneven they are.
        for (idle, cause) in [(0.3, Bottleneck.Cause.line), (0.5, .perConnection)] {
            let uneven = facts(16) { ($0.sockets.trips, $0.times.idle) = (0.12 * 3, idle) }
            #expect(self.cause(uneven) == cause)
        }
    }

    @Test("Bottleneck: what this machine does counts before the network, and refusals do not matter to a full line")
    func order() {
        var all = facts {
            silent(&$0, pauses: 12)
            $0.surroundings.ceiling = 4
            $0.times.stored = $0.times.connected
        }
        #expect(cause(all) == .disk)
        all.surroundings.processor = ProcessorFacts(busiest: 0.5, cores: 0.2, missing: 0.9)
        #expect(cause(all) == .processor)
        (all.times.limited, all.surroundings.rateLimit) = (all.times.connected, 1000)
        #expect(cause(all) == .rateLimit)
        let line = facts {
            $0.sockets.trips = 0.09 * 3
            $0.surroundings.ceiling = 4
        }
        #expect(cause(line) == .line)
    }

    @Test("Bottleneck: a busy machine is no cause while everything that arrives is read")
    func busyMachine() {
        var line = facts {
            $0.sockets.trips = 0.09 * 3
            $0.surroundings.processor = ProcessorFacts(busiest: 0.5, cores: 0.2, missing: 0.9)
            $0.sockets.readings = 12
        }
        #expect(cause(line) == .line)
        line.sockets.unread = 12 * 500_000
        #expect(cause(line) == .processor)
    }

    @Test("Bottleneck: goodput that grows has no limit in the network yet")
    func growing() {
        let line = facts { $0.sockets.trips = 0.09 * 3 }
        #expect(cause(line, isGrowing: true) == nil)
        #expect(cause(facts { $0.times.stored = $0.times.connected }, isGrowing: true) == .disk)
    }

    @Test("Bottleneck: no cause is named without its fact, whatever the others are")
    func properties() {
        var random = SeededBytes(seed: 5)
        for _ in 0..<20_000 {
            let found = facts(Int.random(in: 1...16, using: &random)) { facts in
                func chance() -> Bool { Bool.random(using: &random) }
                func share() -> Double { facts.times.connected * Double.random(in: 0...1, using: &random) }
                if chance() { facts.times.limited = share() }
                if chance() { facts.times.stored = share() }
                if chance() { facts.times.awaited = share() }
                if chance() { facts.times.silent = share() }
                if chance() { even(&facts) }
                if chance() { facts.bytes = ByteCount.random(in: 0...1_000_000_000_000, using: &random) }
                facts.times.pauses = Int.random(in: 0...500, using: &random)
                facts.times.firstByte = Double.random(in: 0...9, using: &random)
                facts.sockets.reordered = chance() ? Int.random(in: 0...facts.sockets.segments, using: &random) : 0
                facts.sockets.trips = chance() ? Double.random(in: 0...1, using: &random) : facts.sockets.trips
                facts.sockets.shortestTrip = chance() ? Double.random(in: 0...0.3, using: &random) : nil
                facts.sockets.windows = chance() ? Double.random(in: 0...1e7, using: &random) : 0
                facts.surroundings.rateLimit = chance() ? 1000 : nil
                facts.surroundings.ceiling = chance() ? 3 : nil
                facts.surroundings.gain = chance() ? Double.random(in: 0...4, using: &random) : nil
                let busy = ProcessorFacts(
                    busiest: Double.random(in: 0...1, using: &random), cores: Double.random(in: 0...2, using: &random),
                    missing: Double.random(in: 0...2, using: &random))
                facts.surroundings.processor = chance() ? busy : nil
            }
            guard let limit = BottleneckPolicy.judge(found) else { continue }
            let hasFact =
                switch limit.cause {
                case .rateLimit: found.surroundings.rateLimit != nil && found.times.limited > 0
                // Of the driver, not of the policy.
                case .otherDownloads, .comparison, .repetition: false
                case .disk: found.times.stored > 0
                case .processor: found.surroundings.processor?.isScarce == true
                case .latency: found.times.awaited > 0 && found.times.firstByte >= 0.5
                case .refusals: found.surroundings.ceiling != nil
                case .perConnection: found.times.silent > 0 || (found.spread ?? 1) < 0.1
                case .line: found.sockets.queueing > 0
                case .path: found.surroundings.gain != nil || found.sockets.shortestTrip != nil
                case .loss: found.sockets.reordered > 0
                case .sendWindow: found.sockets.shortestTrip != nil && found.times.silent > 0
                case .receiveWindow: found.sockets.window != nil
                }
            #expect(hasFact, "\(limit) of \(found)")
            #expect([limit.bytesPerSecond, limit.share, limit.seconds].allSatisfy { ($0 ?? 0) >= 0 })
        }
    }

    @Test("Bottleneck: the time of a connection since a late tick counts for the second in which it passed")
    func lateTick() {
        var machine = TransferMachine(settings: TransferMachine.Settings())
        var orders: [TransferMachine.Order] = []
        for now in [Duration.zero, .milliseconds(100)] {
            for case .open(let id) in machine.tick(at: now) {
                orders.append(machine.next(for: id, at: .milliseconds(100)))
            }
        }
        #expect(orders.contains { if case .fetch = $0 { true } else { false } })
        machine.observed(nil, rateLimit: nil, at: .milliseconds(100))
        machine.observed(nil, rateLimit: nil, at: .milliseconds(1100))
        _ = machine.tick(at: .milliseconds(1100))
        #expect(machine.presentFacts.times.connected == 0)
        let count = Double(machine.openConnections)
        _ = machine.tick(at: .milliseconds(1300))
        #expect(abs(machine.presentFacts.times.connected - 0.2 * count) < 0.001)
    }

    @Test("Bottleneck: the cause changes with the second of two equal judgements, and ends with the requests")
    func change() {
        var policy = BottleneckPolicy()
        var now = Duration.zero
        func second(_ change: (inout TransferFacts) -> Void) {
            policy.present = TransferFacts()
            policy.present.times.connected = 1
            policy.present.bytes = 1_000_000
            change(&policy.present)
            now += .seconds(1)
            policy.observed(at: now)
        }
        policy.observed(at: now)
        second { $0.times.stored = 1 }
        #expect(policy.bottleneck == nil)
        second { $0.times.stored = 1 }
        #expect(policy.bottleneck?.cause == .disk)
        let limit: (inout TransferFacts) -> Void = { ($0.times.limited, $0.surroundings.rateLimit) = (9, 7) }
        second(limit)
        #expect(policy.bottleneck?.cause == .disk)
        second(limit)
        #expect(policy.bottleneck?.cause == .rateLimit)
        second { $0.times.connected = 0 }
        #expect(policy.bottleneck == nil)
    }

    @Test("Bottleneck: it differs if its cause or the size of a number does")
    func differences() {
        let first = Bottleneck(.latency, seconds: 1)
        #expect(!Bottleneck(.latency, seconds: 1.9).differs(from: first))
        #expect(Bottleneck(.latency, seconds: 2.1).differs(from: first))
        #expect(first.differs(from: Bottleneck(.latency, seconds: 2.1)))
        #expect(Bottleneck(.path, seconds: 1).differs(from: first))
    }
}
