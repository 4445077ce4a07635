import ArgumentParser
import Ferry
import FerryCore
import Foundation

/// `ferry-scale rate BYTES URL --directory DIR`.
struct RateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rate",
        abstract: "Hold a limit of BYTES a second, then half, then twice as much, changed while it runs.",
        discussion: "Two downloads share the limit; with --own it is that of one download.")

    @Argument(help: "Bytes a second (1000000, 1M).") var limit: String
    @Argument(help: "The base URL of ferry-origin.") var origin: String
    @OptionGroup var place: Workplace
    @Flag(help: "The limit is the download's own; without it the manager's.") var own = false
    @Option(help: "The length of a window, in seconds.") var window = 10
    @Option(help: "How many windows before the limit is changed.") var windows = 2

    private struct Window: Encodable {
        var limit: ByteCount
        var bytes: ByteCount
        var seconds: Double
        /// The deviation from the limit in percent; negative if fewer bytes arrived.
        var deviation: Double
        /// Whether the window began with the change of the limit.
        var isChange: Bool
    }

    private struct Report: Encodable {
        var limit: ByteCount
        var isOwn: Bool
        var windows: [Window]
        var worstDeviation: Double
    }

    func run() async throws {
        let limit = try ByteCount.parse(limit)
        let manager = try place.manager { if !own { $0.rateLimit = limit } }
        let length = 2 * limit * ByteCount(window * (windows + 2) + 10)
        let downloads = try await manager.download(
            place.requests(own ? 1 : 2, from: origin + "/file/\(length)/file-{}.bin") {
                if own { $0.rateLimit = limit }
            })
        while downloads.contains(where: { $0.status.progress.completedBytes == 0 }) {
            try await Task.sleep(for: .milliseconds(20))
            for download in downloads where download.status.state.isFinal { _ = try await download.finished() }
        }
        try await Task.sleep(for: .seconds(2))
        var found: [Window] = []
        for _ in 0..<windows { found.append(try await measure(downloads, limit, isChange: false)) }
        for changed in [limit / 2, limit * 2] {
            if own {
                for download in downloads { try await download.change { $0.rateLimit = changed } }
            } else {
                await manager.configure { $0.rateLimit = changed }
            }
            found.append(try await measure(downloads, changed, isChange: true))
        }
        for download in downloads { try await download.cancel() }
        await manager.shutdown()
        let worst = found.map { abs($0.deviation) }.max() ?? 0
        try report(Report(limit: limit, isOwn: own, windows: found, worstDeviation: worst))
    }

    private func measure(
        _ downloads: [Download], _ limit: ByteCount, isChange: Bool
    ) async throws -> Window {
        let (before, start) = (total(downloads), Meter.now)
        try await Task.sleep(for: .seconds(window))
        let (bytes, seconds) = (total(downloads) - before, Meter.now - start)
        let deviation = (Double(bytes) / seconds / Double(limit) - 1) * 100
        return Window(limit: limit, bytes: bytes, seconds: seconds, deviation: deviation, isChange: isChange)
    }

    private func total(_ downloads: [Download]) -> ByteCount {
        downloads.reduce(0) { $0 + $1.status.progress.completedBytes }
    }
}
