import FerryCore
import FerryTesting
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("Engine on a disk that loses unsynced bytes", .serialized, .timeLimit(.minutes(30)))
struct PowerCutTests {
    /// One power cut.
    struct Cut: Sendable, CustomStringConvertible {
        var step: DiskStep
        var number: Int
        var seed: UInt64
        var names: DiskImage.NameLoss
        var description: String { "cut at step \(number) (\(step.name)), seed \(seed), names \(names)" }
        func disk() -> ModelDisk { step.powerCut(seed: seed, names: names) }
    }

    /// As many cuts as requested, over all steps.
    static func cuts(_ steps: [DiskStep], _ names: DiskImage.NameLoss) -> [Cut] {
        let each = max(1, modelSeeds / steps.count)
        return steps.enumerated().flatMap { number, step in
            (0..<each).map { Cut(step: step, number: number, seed: UInt64(number * 1_000_003 + $0), names: names) }
        }
    }

    @Test(
        "Engine: a power cut at any step resumes from the claims and gives the right file (B2)",
        arguments: ModelScenario.allCases, DiskImage.NameLoss.allCases)
    func synced(_ scenario: ModelScenario, _ names: DiskImage.NameLoss) async throws {
        let rig = scenario.rig()
        let cuts = Self.cuts(try await scenario.steps(rig), names)
        let recovery = Recovery(rig: rig, isTidy: names == .inOrder)
        let found = try await problems(in: cuts) { try await recovery.problems(of: $0.disk()) }
        #expect(found == [])
    }

    @Test(
        "Engine: without syncing a power cut at any step drops old claims and gives the right file (B2)",
        arguments: ModelScenario.allCases.filter { $0.rig().keptCopy == nil })
    func unsynced(_ scenario: ModelScenario) async throws {
        var rig = scenario.rig(syncs: false)
        // What is left may be unreadable, and is then in the way of a file that may have no other name.
        rig.onConflict = .rename
        let cuts = Self.cuts(try await scenario.steps(rig), .inOrder)
        let recovery = Recovery(rig: rig, isTidy: false)
        let found = try await problems(in: cuts) { try await recovery.problems(of: $0.disk()) }
        #expect(found == [])
    }

    @Test(
        "Engine: a kill at any step resumes from the claims and gives the right file (B1)",
        arguments: ModelScenario.allCases, [true, false])
    func killed(_ scenario: ModelScenario, _ syncs: Bool) async throws {
        let rig = scenario.rig(syncs: syncs)
        let steps = Array(try await scenario.steps(rig).enumerated())
        let recovery = Recovery(rig: rig)
        let found = try await problems(in: steps.map { Kill(number: $0.offset, step: $0.element) }) {
            try await recovery.problems(of: $0.step.crash())
        }
        #expect(found == [])
    }

    struct Kill: Sendable, CustomStringConvertible {
        var number: Int
        var step: DiskStep
        var description: String { "killed at step \(number) (\(step.name))" }
    }

    @Test(
        "Engine: repeated kills and power cuts, during recovery too, end with the right file (B1, B2)",
        arguments: 0..<12)
    func again(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        for round in 0..<max(1, modelSeeds / 100) {
            let scenario = ModelScenario.allCases.randomElement(using: &random) ?? .whole
            let rig = scenario.rig()
            var disk = try await scenario.start(rig)
            for generation in 0..<5 {
                disk.record()
                _ = try await scenario.run(rig, on: disk, disk)
                let name = "seed \(seed), round \(round), \(scenario), generation \(generation)"
                #expect(disk.violations == [], "\(name)")
                guard let step = disk.steps.randomElement(using: &random) else { break }
                disk =
                    Bool.random(using: &random)
                    ? step.crash() : step.powerCut(seed: UInt64.random(in: 0...(.max), using: &random))
                #expect(disk.violations == [], "\(name), \(step.name)")
            }
            #expect(try await Recovery(rig: rig).problems(of: disk) == [], "seed \(seed), round \(round), \(scenario)")
        }
    }
}
