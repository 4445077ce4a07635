import ArgumentParser
import FerryCore
import Foundation

/// `ferry-scale next N`.
struct NextCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "next", abstract: "Choose who runs next while N wait: the queue alone, without downloads.")

    @Argument(help: "How many wait.") var count: Int
    @Option(help: "How many choices are timed.") var choices = 20_000

    private struct Report: Encodable {
        var waiting: Int
        var choices: Int
        var nanosecondsEach: Double
        /// A pause and a resume of a download in the middle, each with its decision.
        var nanosecondsEachPauseAndResume: Double
    }

    func run() async throws {
        var policy = QueuePolicy(limit: 3)
        var last = 0
        func next() -> DownloadID {
            last += 1
            return DownloadID(rawValue: "download-\(last)")
        }
        for _ in 0..<count { policy.join(next()) }
        var running = policy.decide(at: .zero).start
        // As many downloads arrive as end, so the number stays constant.
        let arrivals = (0..<choices).map { _ in next() }
        var start = Meter.now
        for arrival in arrivals {
            if !running.isEmpty { policy.ended(running.removeFirst()) }
            policy.join(arrival)
            running += policy.decide(at: .zero).start
        }
        let perChoice = (Meter.now - start) / Double(max(1, choices))
        let movers = (0..<choices).map { DownloadID(rawValue: "download-\(last - ($0 % max(1, count / 2)))") }
        start = Meter.now
        for mover in movers {
            policy.leave(mover)
            _ = policy.decide(at: .zero)
            policy.join(mover)
            _ = policy.decide(at: .zero)
        }
        let perMove = (Meter.now - start) / Double(max(1, choices))
        try report(
            Report(
                waiting: policy.count - policy.occupiedCount, choices: choices, nanosecondsEach: perChoice * 1e9,
                nanosecondsEachPauseAndResume: perMove * 1e9))
    }
}
