import FerryCore
import FerryTesting
import Foundation
import Synchronization
import Testing

@testable import FerryEngine

@Suite("Handover in random worlds", .timeLimit(.minutes(30)))
struct HandoverWorldTests {
    /// The number of walks: `FERRY_HANDOVER_WALKS`, else 10,000; without the optimizer, which makes them ten times as fast,
    /// 500.
    static let walks = ProcessInfo.processInfo.environment["FERRY_HANDOVER_WALKS"].flatMap { Int($0) } ?? usualWalks
    #if DEBUG
        private static let usualWalks = 500
    #else
        private static let usualWalks = 10_000
    #endif
    static let batches = 20

    @Test(
        "Handover: over kills, power cuts, force quits and changes on the server no byte is wrong, no claim is lost, every lease ends and is reported, and each wake is completed once"
    )
    func walks() async throws {
        var outcomes: [String: Int] = [:]
        try await withThrowingTaskGroup(of: [String: Int].self) { group in
            for batch in 0..<Self.batches {
                group.addTask { try await Self.outcomes(ofBatch: batch) }
            }
            for try await some in group { outcomes.merge(some, uniquingKeysWith: +) }
        }
        print("\(Self.walks) walks: \(outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })")
        // Walks in which nothing happens would prove nothing. The rarest of these ends about once in 200 walks.
        if Self.walks >= 10_000 {
            for kind in ["claimed", "repeated", "stale", "answered", "notSynced", "takenBack", "stopped", "lost"] {
                #expect(outcomes[kind, default: 0] > 0, "no lease ended as \(kind)")
            }
        }
    }

    /// How often the leases of a batch of walks ended in each way.
    private static func outcomes(ofBatch batch: Int) async throws -> [String: Int] {
        var outcomes: [String: Int] = [:]
        for number in 0..<max(1, walks / batches) {
            let seed = UInt64(batch) << 32 | UInt64(number)
            let walk = try HandoverWalk(seed: seed)
            for _ in 0..<Int.random(in: 10...40, using: &walk.random) where walk.problems.isEmpty { await walk.step() }
            await walk.finish()
            guard walk.problems.isEmpty else {
                Issue.record("seed \(seed): \(walk.problems.prefix(5))\n\(walk.trace.joined(separator: "\n"))")
                return outcomes
            }
            walk.log.with { state in
                for outcome in state.ends.values.joined() { outcomes[kind(outcome), default: 0] += 1 }
            }
        }
        return outcomes
    }

    private static func kind(_ outcome: LeaseOutcome) -> String {
        let text =
            if case .refused(let reason) = outcome { "\(reason)" } else { "\(outcome)" }
        return String(text.prefix { $0 != "(" })
    }
}
