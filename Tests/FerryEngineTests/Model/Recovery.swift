import FerryCore
import FerryTesting
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import FerryEngine

/// Resumes after a crash, and lists the violations.
struct Recovery: Sendable {
    let rig: ModelRig
    /// Whether the file must get its own name, with nothing left beside it.
    var isTidy = true

    func problems(of disk: ModelDisk) async throws -> [String] {
        var problems = disk.violations.map { "at rest: \($0)" }
        if !rig.isKept(on: disk) { problems.append("at rest: the replaced file is lost") }
        let claimed = rig.claimed(on: disk)
        let found = disk.image.files
        // Without syncing, the file under the final name may be torn, and without its journal that cannot be detected.
        let cannotTell = !rig.syncs && found.contains(ModelRig.path) && !found.contains("/d/a.part.ferry")
        let outcome = try await rig.run(on: disk)
        problems += disk.violations.dropFirst(problems.count)
        guard let file = outcome.end.file else { return problems + ["ended with \(outcome.end.outcome)"] }
        if !cannotTell || !file.wasAlreadyComplete, !rig.isWhole(FilePath(file.path), on: disk) {
            problems.append("\(file.path) has other bytes, found \(found)")
        }
        // A file under the final name may be compared first: a response is dropped, and samples are requested. On a busy machine
        // the model's clock, which jumps, ends some of these requests too early, and they are sent again.
        let asked = found.contains(ModelRig.path) ? 2 + outcome.end.retries.count : 0
        let compared = ByteCount(asked) * min(rig.resource.size, SamplePlan.allBelow)
        if outcome.served > rig.resource.size - claimed + compared {
            problems.append("\(outcome.served) bytes came although \(claimed) were claimed")
        }
        if !rig.isKept(on: disk) { problems.append("the replaced file is lost") }
        if isTidy, disk.image.files != [ModelRig.path] + [rig.keptCopy?.filePath].compactMap(\.self) {
            problems.append("left: \(disk.image.files), found \(found)")
        }
        return problems
    }
}

/// Hands out numbers.
private final class Counter: Sendable {
    private let last = Atomic(0)
    func next() -> Int { last.add(1, ordering: .relaxed).oldValue }
}

/// Checks many cases, a few at a time; returns their problems, up to about ten for each worker.
func problems<Case: Sendable>(
    in cases: [Case], _ check: @escaping @Sendable (Case) async throws -> [String]
) async throws -> [String] {
    let counter = Counter()
    return try await withThrowingTaskGroup(of: [String].self) { group in
        for _ in 0..<4 {
            group.addTask {
                var found: [String] = []
                while true {
                    let index = counter.next()
                    guard index < cases.count, found.count < 10 else { return found }
                    found += try await check(cases[index]).map { "\(cases[index]): \($0)" }
                }
            }
        }
        return try await group.reduce(into: []) { $0 += $1 }
    }
}

/// The number of power cuts of each case: `FERRY_MODEL_SEEDS`, else 100, which makes thousands over all cases.
let modelSeeds = ProcessInfo.processInfo.environment["FERRY_MODEL_SEEDS"].flatMap { Int($0) } ?? 100
