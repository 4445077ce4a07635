import FerryCore
import FerryTesting
import Foundation
import Synchronization
import SystemPackage

@testable import FerryEngine

/// The engine on a disk in memory, with a server in the process: one run takes a few milliseconds.
struct ModelRig: Sendable {
    static let path: FilePath = "/d/a"

    /// The server's current file.
    var resource: Resource
    /// The server's earlier files.
    var earlier: [Resource] = []
    var syncs = true
    var onConflict = ConflictRule.rename
    /// Where the file is kept that is replaced: the first of ``earlier``.
    var keptCopy: KeptCopy?

    var rules: WritingRules { WritingRules([resource] + earlier, syncs: syncs) }
    func disk() -> ModelDisk { ModelDisk(rules: rules) }

    struct Outcome: Sendable {
        var end: Run.End
        /// The received bytes of bodies.
        var served: ByteCount
        var error: DownloadError? { end.error }
    }

    /// One run from beginning to end.
    ///
    /// - Parameters:
    ///   - checkpoints: Offsets of pieces before which the time jumps, and which wait until a sync has begun.
    ///   - watched: The disk whose syncs are awaited.
    ///   - breaks: The offsets at which responses break.
    ///   - stopsAt: The run is paused before the piece that begins there.
    func run(
        on fileSystem: any FileSystem, checkpoints: Set<ByteCount> = [], watched: ModelDisk? = nil,
        breaks: [ByteCount?] = [], stopsAt: ByteCount? = nil
    ) async throws -> Outcome {
        let clock = QuickClock()
        let brake = Brake()
        let transport = ScriptedTransport(resource, breaks: breaks) { offset in
            if checkpoints.contains(offset), let disk = watched {
                let before = disk.syncs
                clock.advance(by: .seconds(11))
                // Without unsynced bytes, or on a failing disk, no sync begins: the wait is short.
                let deadline = clock.now() + .seconds(5)
                while disk.syncs == before, clock.now() < deadline, !Task.isCancelled {
                    try? await clock.sleep(for: .milliseconds(50))
                }
            }
            if let stopsAt, offset >= stopsAt { await brake.pull() }
        }
        let environment = EngineEnvironment(
            transport: transport, fileSystem: fileSystem, clock: clock, random: { 0 })
        var request = DownloadRequest(
            sources: [try DownloadURL("http://model.test/a")], destination: .directory("/d"))
        request.maxConnections = 1
        request.syncsToDisk = syncs
        (request.onConflict, request.keptCopy) = (onConflict, keptCopy)
        var settings = DriverSettings()
        settings.minFreeBytes = 0
        settings.stallTimeout = .seconds(1_000_000)
        let run = Run("a", request, environment, settings, RunContext())
        brake.set(run.driver)
        // Otherwise the transport and the driver would keep each other alive.
        defer { brake.set(nil) }
        return Outcome(end: await run.end(), served: transport.served)
    }

    /// The bytes that a run would find claimed.
    func claimed(on disk: ModelDisk) -> ByteCount {
        guard let record = try? Journal.read(at: "/d/a.part.ferry", fileSystem: disk),
            let part = try? disk.statusIfPresent("/d/a.part"), part.inode == record.partInode,
            record.identity.etag == resource.etag,
            record.unsyncedBoot == nil || record.unsyncedBoot == disk.bootID
        else { return 0 }
        return RangeSet(pairs: record.claimed)?.byteCount ?? 0
    }

    /// Whether the complete file is at this path.
    func isWhole(_ path: FilePath, on disk: ModelDisk) -> Bool { isWhole(path, resource, on: disk) }

    /// Whether a file that is to be kept when it is replaced is there: under its own name, or where it is kept.
    func isKept(on disk: ModelDisk) -> Bool {
        guard let keptCopy, let old = earlier.first else { return true }
        return isWhole(Self.path, old, on: disk) || isWhole(keptCopy.filePath, old, on: disk)
    }

    private func isWhole(_ path: FilePath, _ resource: Resource, on disk: ModelDisk) -> Bool {
        guard let file = try? disk.open(path, .readOnly), let status = try? file.status(),
            status.length == resource.size, let bytes = try? file.read(0..<resource.size)
        else { return false }
        // With memcmp: in a debug build comparing arrays takes as long as a whole run.
        return bytes.withUnsafeBytes { FileBytes.of(resource).equals($0, at: 0) }
    }
}

/// Pauses a run from within its own connection.
private final class Brake: Sendable {
    private let driver = Mutex<DownloadDriver?>(nil)
    private let never = AsyncEvent()

    func set(_ driver: DownloadDriver?) { self.driver.withLock { $0 = driver } }

    /// Returns when the connection is cancelled.
    func pull() async {
        driver.withLock { $0 }?.stop(.pause)
        await never.wait(after: .max)
    }
}
