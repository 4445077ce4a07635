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
            settings: { ($0.stallTimeout, $0.maxAttempts) = (.seconds(3), 2) }, seed: seed)
        #expect(code(outcome) == .network)
        // Three times three seconds, and two back-offs between.
        #expect(world.now < 60, "\(world.now)")
        let retries = world.events.count { if case .retrying = $0 { true } else { false } }
        #expect(retries == 2)
    }

    @Test("TransferMachine: a stall beside a working connection counts as no attempt")
    func stallBeside() {
        for seed in 0..<10 {
            let (world, outcome) = run(
                origin { ($0.size, $0.stalls, $0.connectionRate) = (200 << 20, 0.02, 5e6) },
                settings: { ($0.stallTimeout, $0.maxAttempts) = (.seconds(3), 3) }, seed: UInt64(seed))
            #expect(outcome == .finished && world.restarts == 0 && world.isOfOnePiece)
        }
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
