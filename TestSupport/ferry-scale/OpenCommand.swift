import ArgumentParser
import Ferry
import Foundation

/// `ferry-scale open --directory DIR`.
struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Open the catalogue that `add` has made.")

    @OptionGroup var place: Workplace

    private struct Report: Encodable {
        var downloads: Int
        var seconds: Double
        var cpuSeconds: Double
        var bytesEach: Int
        var peakBytes: Int
        /// The time to get the first fifty handles, and fifty from the middle.
        var firstPageSeconds: Double
        var middlePageSeconds: Double
        var closeSeconds: Double
    }

    func run() async throws {
        let manager = try place.manager()
        let (before, cpu) = (Meter.residentBytes, Meter.cpuSeconds)
        let seconds = try await timed { try await manager.activate() }
        let (after, used) = (Meter.residentBytes, Meter.cpuSeconds - cpu)
        let peak = Meter.peakBytes
        let count = try await manager.downloadCount
        let first = try await timed { _ = try await manager.downloads(limit: 50) }
        let middle = try await timed { _ = try await manager.downloads(offset: count / 2, limit: 50) }
        let close = await timed { await manager.shutdown() }
        try report(
            Report(
                downloads: count, seconds: seconds, cpuSeconds: used, bytesEach: (after - before) / max(1, count),
                peakBytes: peak, firstPageSeconds: first, middlePageSeconds: middle, closeSeconds: close))
    }
}

/// Returns the duration of the body in seconds.
func timed(_ body: () async throws -> Void) async rethrows -> Double {
    let start = Meter.now
    try await body()
    return Meter.now - start
}
