import FerryCore
import FerryTesting
import Foundation
import SystemPackage
import Testing

@testable import FerryEngine

/// A download whose steps are recorded, to be cut at each.
enum ModelScenario: String, CaseIterable, Sendable, CustomTestStringConvertible {
    /// Begun, synced three times on the way, published.
    case whole
    /// Resumed from the files of an earlier run, published.
    case resumed
    /// Under 1 MiB: published in one step.
    case small
    /// Under 1 MiB, but its connection broke: moved to the disk, resumed.
    case spilled
    /// The server's file has changed since an earlier run: the old part file is set aside.
    case changed
    /// As `changed`, to a file under 1 MiB, which may replace no other: so a file of a set is downloaded.
    case changedToSmall
    /// As `whole`, with writes during a sync.
    case overlapping
    /// A finished file is replaced, and kept.
    case replaced
    /// As `replaced`, where no link can be made: it is copied.
    case replacedByCopy

    var testDescription: String { rawValue }

    func rig(syncs: Bool = true) -> ModelRig {
        switch self {
        case .whole, .resumed, .overlapping: ModelRig(resource: Resource(size: 1_200_003, seed: 3), syncs: syncs)
        case .small, .spilled: ModelRig(resource: Resource(size: 40_001, seed: 4), syncs: syncs)
        case .changed:
            ModelRig(
                resource: Resource(size: 1_250_000, seed: 5), earlier: [Resource(size: 1_200_003, seed: 3)],
                syncs: syncs)
        case .changedToSmall:
            ModelRig(
                resource: Resource(size: 40_001, seed: 4), earlier: [Resource(size: 1_200_003, seed: 3)], syncs: syncs,
                onConflict: .fail)
        case .replaced, .replacedByCopy:
            ModelRig(
                resource: Resource(size: 1_200_003, seed: 3), earlier: [Resource(size: 40_001, seed: 4)], syncs: syncs,
                onConflict: .overwrite, keptCopy: KeptCopy(directory: "/k", path: "of/a"))
        }
    }

    /// The disk on which the run begins.
    func start(_ rig: ModelRig) async throws -> ModelDisk {
        let disk = rig.disk()
        if rig.keptCopy != nil {
            var first = rig
            (first.resource, first.earlier) = (rig.earlier[0], [rig.resource])
            let outcome = try await first.run(on: disk)
            try #require(outcome.end.file?.path == ModelRig.path.string)
        }
        guard [.resumed, .changed, .changedToSmall].contains(self) else { return disk }
        var first = rig
        if let old = rig.earlier.first {
            first.resource = old
            first.earlier = [rig.resource]
        }
        let outcome = try await first.run(on: disk, checkpoints: [300_000], watched: disk, stopsAt: 600_000)
        try #require(outcome.end.isStopped)
        try #require(first.claimed(on: disk) == 600_000)
        return disk
    }

    /// The run itself, on a file system over `disk`.
    func run(_ rig: ModelRig, on fileSystem: any FileSystem, _ disk: ModelDisk) async throws -> ModelRig.Outcome {
        switch self {
        case .small, .changedToSmall: return try await rig.run(on: fileSystem)
        case .spilled: return try await rig.run(on: fileSystem, breaks: [20_000])
        case .whole, .resumed, .changed:
            return try await rig.run(on: fileSystem, checkpoints: [300_000, 600_000, 900_000], watched: disk)
        case .replaced:
            return try await rig.run(on: fileSystem, checkpoints: [600_000], watched: disk)
        case .replacedByCopy:
            let apart = FaultyFileSystem(mount: "/k", over: fileSystem)
            return try await rig.run(on: apart, checkpoints: [600_000], watched: disk)
        case .overlapping:
            disk.duringSync { [disk] path in
                guard path.string.hasSuffix(".part") else { return }
                // The transfer continues meanwhile on another thread; at the end it does not, and the loop is bounded.
                let before = disk.writes
                for _ in 0..<100 where disk.writes == before { sched_yield() }
            }
            defer { disk.duringSync(nil) }
            return try await rig.run(on: fileSystem, checkpoints: [200_000, 500_000, 800_000], watched: disk)
        }
    }

    /// Every step of one complete run.
    func steps(_ rig: ModelRig) async throws -> [DiskStep] {
        let disk = try await start(rig)
        disk.record()
        let outcome = try await run(rig, on: disk, disk)
        try #require(outcome.end.file?.path == ModelRig.path.string, "\(outcome.end)")
        try #require(rig.isWhole(ModelRig.path, on: disk))
        try #require(disk.violations == [])
        return disk.steps
    }
}
