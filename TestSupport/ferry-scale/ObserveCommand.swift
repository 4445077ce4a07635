import ArgumentParser
import Ferry
import FerryCore
import Foundation

/// `ferry-scale observe URL --directory DIR`.
struct ObserveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "observe", abstract: "Count what an observer of one download is told, at full speed.")

    @Argument(help: "The base URL of ferry-origin.") var origin: String
    @OptionGroup var place: Workplace
    @Option(help: "The size of the file.") var size = "4G"

    private struct Report: Encodable {
        var seconds: Double
        var bytes: ByteCount
        /// The number of updates with a new state, and of those with only new progress.
        var changes: Int
        var updates: Int
        /// Progress updates per second: the mean over the download, and the maximum in any second.
        var updatesPerSecond: Double
        var mostInASecond: Int
    }

    func run() async throws {
        let manager = try place.manager()
        let bytes = try ByteCount.parse(size)
        let requests = try place.requests(1, from: origin + "/file/\(bytes)/file-{}.bin") { $0.syncsToDisk = false }
        let start = Meter.now
        let download = try await manager.download(requests)[0]
        var times: [Double] = []
        var (changes, state) = (0, DownloadState?.none)
        for await status in download.updates {
            if status.state == state { times.append(Meter.now) } else { changes += 1 }
            state = status.state
        }
        let seconds = Meter.now - start
        let finished = try await download.finished()
        await manager.shutdown()
        var (most, first) = (0, 0)
        for (index, time) in times.enumerated() {
            while time - times[first] >= 1 { first += 1 }
            most = max(most, index - first + 1)
        }
        try report(
            Report(
                seconds: seconds, bytes: finished.totalBytes, changes: changes, updates: times.count,
                updatesPerSecond: Double(times.count) / seconds, mostInASecond: most))
    }
}
