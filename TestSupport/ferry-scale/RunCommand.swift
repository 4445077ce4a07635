import ArgumentParser
import Ferry
import FerryCore
import Foundation

/// `ferry-scale run N URL --directory DIR`.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run N downloads at once, each at a few KB/s. Needs many open files (ulimit -n).")

    @Argument(help: "How many.") var count: Int
    @Argument(help: "The base URL of ferry-origin.") var origin: String
    @OptionGroup var place: Workplace
    @Option(help: "The size of each file.") var size = "60K"
    @Option(help: "What the origin gives to each, per second.") var rate = "4K"

    private struct Report: Encodable {
        var downloads: Int
        var finished: Int
        var peakRunning: Int
        var seconds: Double
        var cpuSeconds: Double
        var peakBytes: Int
        /// The error of the first download that failed.
        var failure: String?
    }

    func run() async throws {
        let manager = try place.manager {
            $0.maxConcurrentDownloads = count
            $0.transfer.connectionsPerHost = count
        }
        try await manager.activate()
        let start = Meter.now
        let requests = try place.requests(count, from: origin + "/file/\(size)/file-{}.bin?rate=\(rate)")
        let downloads = try await manager.download(requests)
        // owner: this function, which cancels it below and awaits it.
        let watch = Task {
            var peak = 0
            while !Task.isCancelled {
                peak = max(peak, downloads.count { $0.status.state == .downloading })
                try? await Task.sleep(for: .milliseconds(500))
            }
            return peak
        }
        var (finished, failure) = (0, String?.none)
        for download in downloads {
            do {
                _ = try await download.finished()
                finished += 1
            } catch { failure = failure ?? "\(error)" }
        }
        let seconds = Meter.now - start
        watch.cancel()
        let peakRunning = await watch.value
        let peak = Meter.peakBytes
        await manager.shutdown()
        try report(
            Report(
                downloads: count, finished: finished, peakRunning: peakRunning, seconds: seconds,
                cpuSeconds: Meter.cpuSeconds, peakBytes: peak, failure: failure))
    }
}
