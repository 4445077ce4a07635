import ArgumentParser
import Ferry
import FerryCore
import Foundation

/// `ferry-scale add N --directory DIR`.
struct AddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "List N downloads in one call; they wait for tomorrow, or are paused.")

    @Argument(help: "How many.") var count: Int
    @OptionGroup var place: Workplace
    @Flag(help: "They are paused.") var paused = false

    private struct Report: Encodable {
        var downloads: Int
        var seconds: Double
        var cpuSeconds: Double
        /// The memory per download: while the caller holds requests and handles, after their release, and after trimming
        /// the allocator.
        var bytesEachHeld: Int
        var bytesEachAfter: Int
        var bytesEach: Int
        var peakBytes: Int
        var catalogueBytes: Int
    }

    func run() async throws {
        let manager = try place.manager()
        try await manager.activate()
        let (before, cpu) = (Meter.residentBytes, Meter.cpuSeconds)
        let (seconds, held) = try await add(to: manager)
        let (after, used) = (Meter.residentBytes, Meter.cpuSeconds - cpu)
        Meter.giveBack()
        let inUse = Meter.residentBytes
        let listed = try await manager.downloadCount
        await manager.shutdown()
        try report(
            Report(
                downloads: listed, seconds: seconds, cpuSeconds: used,
                bytesEachHeld: (held - before) / max(1, count), bytesEachAfter: (after - before) / max(1, count),
                bytesEach: (inUse - before) / max(1, count),
                peakBytes: Meter.peakBytes, catalogueBytes: place.catalogueBytes))
    }

    /// Returns the duration of the call, and the memory while requests and handles are held.
    private func add(to manager: DownloadManager) async throws -> (seconds: Double, heldBytes: Int) {
        let tomorrow = Date(timeIntervalSinceNow: 86_400)
        let requests = try place.requests(count, from: "https://downloads.example.com/archive/{}/file-{}.bin") {
            if paused { $0.startsPaused = true } else { $0.notBefore = tomorrow }
        }
        let start = Meter.now
        let downloads = try await manager.download(requests)
        let seconds = Meter.now - start
        return withExtendedLifetime((requests, downloads)) { (seconds, Meter.residentBytes) }
    }
}
