import ArgumentParser
import Ferry
import Foundation

/// `ferry-scale idle --directory DIR`.
struct IdleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "idle", abstract: "What an open manager uses while nothing runs.")

    @OptionGroup var place: Workplace
    @Option(help: "For how long it is looked at.") var seconds = 10

    private struct Report: Encodable {
        var downloads: Int
        var seconds: Int
        var cpuSeconds: Double
    }

    func run() async throws {
        let manager = try place.manager()
        try await manager.activate()
        let count = try await manager.downloadCount
        try await Task.sleep(for: .seconds(2))
        let before = Meter.cpuSeconds
        try await Task.sleep(for: .seconds(seconds))
        let used = Meter.cpuSeconds - before
        await manager.shutdown()
        try report(Report(downloads: count, seconds: seconds, cpuSeconds: used))
    }
}
