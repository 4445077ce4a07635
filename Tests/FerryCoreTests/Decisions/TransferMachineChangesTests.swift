import FerryCore
import Testing

@Suite("TransferMachine: changes during a run", .timeLimit(.minutes(30)))
struct TransferMachineChangesTests {
    private func world(
        _ change: (inout ModelOrigin) -> Void, seed: UInt64 = 7,
        settings: (inout TransferMachine.Settings) -> Void = { _ in }
    ) -> World {
        var origin = ModelOrigin()
        change(&origin)
        var rules = TransferMachine.Settings()
        settings(&rules)
        return World(TransferMachine(settings: rules), [origin], seed: seed)
    }

    private func retries(_ world: World) -> Int {
        world.events.count { if case .retrying = $0 { true } else { false } }
    }

    @Test("TransferMachine: reconnects cost no attempt, however many there are")
    func reconnects() {
        for seed in 0..<10 {
            var world = world({ ($0.size, $0.totalRate) = (300 << 20, 20e6) }, seed: UInt64(seed)) {
                $0.maxRetries = 0
            }
            world.happenings = (1...20).map { number in
                (Double(number) * 0.7, { machine, now in machine.reconnect(at: now) })
            }
            #expect(world.run(limit: 4000) == .finished)
            #expect(world.violations == [] && world.isOfOnePiece && retries(world) == 0 && world.restarts == 0)
        }
    }

    @Test("TransferMachine: retryNow() ends a back-off, and the attempt before it stays counted")
    func retryNow() {
        var world = world { ($0.size, $0.totalRate) = (40 << 20, 20e6) }
        var settings = TransferMachine.Settings()
        settings.memory.attempts = 9
        settings.maxRetries = 10
        world.machine = TransferMachine(settings: settings)
        world.origins[0].refusals = 1
        world.happenings = [(3, { machine, now in machine.retryNow(at: now) })]
        guard case .failed(let error) = world.run(limit: 4000) else {
            Issue.record("it did not end")
            return
        }
        #expect(error.code == .network)
        #expect(world.now < 4)
        #expect(world.machine.retry.memory.attempts == 11)
    }

    @Test("TransferMachine: a lower connection limit applies at once, and a higher one when connections pay")
    func limits() {
        var world = world({ ($0.size, $0.connectionRate, $0.totalRate) = (400 << 20, 2e6, 500e6) }) {
            $0.maxConnections = 1
        }
        world.happenings = [
            (3, { machine, _ in machine.set(maxConnections: 8) }),
            (12, { machine, _ in machine.set(maxConnections: 3) }),
        ]
        #expect(world.run(limit: 4000) == .finished)
        #expect(world.violations == [] && world.isOfOnePiece && retries(world) == 0)
        // Counted ten times a second or more: one at first, then several, at last no more than three.
        #expect(world.peak > 3 && world.peak <= 8)
        #expect(world.counts.suffix(world.counts.count / 2).allSatisfy { $0 <= 3 })
        #expect(world.counts.last(where: { $0 > 0 }).map { $0 <= 3 } == true)
    }

    @Test("TransferMachine: a server without ranges gets one connection, whatever the limit becomes")
    func noRanges() {
        var world = world({ ($0.size, $0.totalRate, $0.ranges) = (40 << 20, 5e6, .ignored) }) { $0.maxConnections = 1 }
        world.happenings = [(1, { machine, _ in machine.set(maxConnections: 8) })]
        #expect(world.run(limit: 4000) == .finished)
        #expect(world.violations == [])
    }

    @Test("TransferMachine: with connections used by other downloads it continues, and opens more when there is room")
    func noRoom() {
        var world = world { ($0.size, $0.connectionRate, $0.totalRate) = (800 << 20, 4e6, 500e6) }
        world.room = 2
        world.happenings = []
        world.roomLater = (at: 20, room: 6)
        #expect(world.run(limit: 4000) == .finished)
        #expect(world.violations == [] && world.isOfOnePiece && retries(world) == 0)
        #expect(world.peak > 2 && world.peak <= 7)
        #expect(world.machine.activeConnections <= 6)
    }

    @Test("TransferMachine: random reconnects, retries and limits break no rule in random worlds")
    func random() {
        for seed in 0..<60 {
            var world = RandomWorld.make(seed: UInt64(1000 + seed))
            var random = SeededBytes(seed: UInt64(seed))
            var at = 0.0
            for _ in 0..<12 {
                at += Double.random(in: 0.05...3, using: &random)
                let number = Int.random(in: 1...16, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: world.happenings.append((at, { machine, now in machine.reconnect(at: now) }))
                case 1: world.happenings.append((at, { machine, now in machine.retryNow(at: now) }))
                default: world.happenings.append((at, { machine, _ in machine.set(maxConnections: number) }))
                }
            }
            if seed % 3 == 0 { world.room = Int.random(in: 1...4, using: &random) }
            let outcome = world.run()
            #expect(world.violations == [], "seed \(seed)")
            #expect(outcome != .tooLong, "seed \(seed)")
            if outcome == .finished { #expect(world.isOfOnePiece, "seed \(seed)") }
        }
    }

    @Test("ConnectionCountPolicy: a raised limit is tried at once, and the server's refusals stay in force")
    func policyLimit() {
        var policy = ConnectionCountPolicy(limit: 2)
        func feed(_ ticks: Int, _ bytes: ByteCount) {
            for _ in 0..<ticks {
                policy.tick(bytes: bytes * ByteCount(policy.target), delivering: policy.target, left: .max)
            }
        }
        feed(20, 1000)
        #expect(policy.target == 2)
        policy.set(limit: 8)
        feed(12, 1000)
        #expect(policy.target == 8)
        policy.objected(working: 3)
        policy.set(limit: 6)
        #expect(policy.target == 3 && policy.ceiling == 3)
        policy.set(limit: 2)
        #expect(policy.target == 2 && policy.ceiling == 2)
        policy.limitToSingleConnection()
        policy.set(limit: 9)
        feed(2000, 1000)
        #expect(policy.target == 1)
    }

    @Test("ConnectionCountPolicy: connections held by other downloads lower no ceiling and are retried soon")
    func policyWithheld() {
        var policy = ConnectionCountPolicy(limit: 16)
        func feed(_ ticks: Int) {
            for _ in 0..<ticks {
                policy.tick(bytes: 1000 * ByteCount(policy.target), delivering: policy.target, left: .max)
            }
        }
        feed(12)
        #expect(policy.target == 16)
        for _ in 0..<5 {
            policy.withheld(working: 3)
            #expect(policy.target == 3 && policy.ceiling == 16)
            feed(60)
            #expect(policy.target > 3)
        }
    }

    @Test("TransferMachine: no connection writes while the place for a changed file is being prepared")
    func placing() {
        // The servers respond at once, the disk is slow, and several connections had paid off before the file changed.
        for seed in 0..<10 {
            var world = world(
                {
                    ($0.size, $0.connectionRate, $0.totalRate) = (400 << 20, 4e6, 500e6)
                    $0.changes = [(at: 5, size: 300 << 20), (at: 12, size: 350 << 20)]
                }, seed: UInt64(seed))
            world.placing = 2
            #expect(world.run(limit: 4000) == .finished)
            #expect(world.violations == [] && world.isOfOnePiece && world.restarts >= 1)
        }
    }
}
