import FerryCore
import FerryTesting
import Foundation
import Testing

@testable import Ferry

@Suite("A manager in random worlds", .timeLimit(.minutes(30)))
struct ManagerWorldTests {
    /// The number of walks: `FERRY_MANAGER_WALKS`, else 100; without the optimizer 25.
    static let walks = ProcessInfo.processInfo.environment["FERRY_MANAGER_WALKS"].flatMap { Int($0) } ?? usualWalks
    #if DEBUG
        private static let usualWalks = 25
    #else
        private static let usualWalks = 100
    #endif
    /// The seed of the first walk.
    static let firstSeed = ProcessInfo.processInfo.environment["FERRY_MANAGER_SEED"].flatMap { UInt64($0) } ?? 1
    private static let atOnce = 4

    @Test(
        "Manager: over kills, power cuts, force quits and changes on the server no published byte is wrong, no claimed byte is fetched again, every lease ends, each wake is completed once on the main thread, and each completion is told"
    )
    func walks() async throws {
        let counts = try await withThrowingTaskGroup(of: [String: Int].self) { group in
            for first in 0..<Self.atOnce {
                group.addTask {
                    var counts: [String: Int] = [:]
                    for number in stride(from: first, to: Self.walks, by: Self.atOnce) {
                        counts.merge(try await Self.walk(Self.firstSeed + UInt64(number)), uniquingKeysWith: +)
                    }
                    return counts
                }
            }
            return try await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        }
        print("\(Self.walks) walks of a manager: \(counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })")
        // Walks in which nothing happens would prove nothing.
        if Self.walks >= 100 {
            for kind in ["completed", "kills", "power cuts", "force quits", "changes", "wakes", "leases"] {
                #expect(counts[kind, default: 0] > 0, "no \(kind)")
            }
        }
    }

    private static func walk(_ seed: UInt64) async throws -> [String: Int] {
        let place = FileManager.default.temporaryDirectory.path + "/ferry-walk-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: place) }
        let log = ManagerWalkLog()
        do {
            try await notForever("the end of the walk", limit: .seconds(600), seen: { log.with { $0.awaited } }) {
                let walk = ManagerWalk(seed: seed, place: place, log)
                let steps = Int.random(in: 10...30, using: &walk.random)
                for _ in 0..<steps where log.problems.isEmpty { await walk.step() }
                await walk.finish()
            }
        } catch { log.fail("\(error)") }
        let problems = log.problems
        if !problems.isEmpty {
            let again =
                "FERRY_MANAGER_SEED=\(seed) FERRY_MANAGER_WALKS=1 swift test --disable-xctest --filter ManagerWorldTests"
            Issue.record("\(again)\n\(problems.prefix(5))\n\(log.trace.joined(separator: "\n"))")
        }
        return log.with { $0.counts }
    }
}
