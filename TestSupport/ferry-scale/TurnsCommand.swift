import ArgumentParser
import Ferry
import FerryCore
import Foundation

/// `ferry-scale turns N URL --directory DIR`.
struct TurnsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "turns", abstract: "Complete small downloads, one after the other, while N wait.")

    @Argument(help: "How many are listed.") var count: Int
    @Argument(help: "The base URL of ferry-origin.") var origin: String
    @OptionGroup var place: Workplace
    @Option(help: "How many are completed.") var completions = 500

    private struct Report: Encodable {
        var listed: Int
        var completions: Int
        var secondsEach: Double
        var cpuSecondsEach: Double
        var bytesEach: Int
    }

    func run() async throws {
        let manager = try place.manager { $0.maxConcurrentDownloads = 1 }
        try await manager.activate()
        let before = Meter.residentBytes
        let events = manager.events
        try await add(to: manager)
        let resident = Meter.residentBytes
        var (completed, start, cpu) = (0, 0.0, 0.0)
        for await event in events {
            guard event.kind.isCompletion else { continue }
            completed += 1
            // The first downloads include the costs of the connection and of cold code.
            if completed == 20 { (start, cpu) = (Meter.now, Meter.cpuSeconds) }
            if completed == completions + 20 { break }
        }
        let (seconds, used) = (Meter.now - start, Meter.cpuSeconds - cpu)
        await manager.shutdown()
        try report(
            Report(
                listed: count, completions: completions, secondsEach: seconds / Double(max(1, completions)),
                cpuSecondsEach: used / Double(max(1, completions)), bytesEach: (resident - before) / max(1, count)))
    }

    private func add(to manager: DownloadManager) async throws {
        let requests = try place.requests(count, from: origin + "/file/1K/file-{}.bin") { $0.syncsToDisk = false }
        _ = try await manager.download(requests)
    }
}

extension DownloadEvent.Kind {
    fileprivate var isCompletion: Bool { if case .completed = self { true } else { false } }
}
