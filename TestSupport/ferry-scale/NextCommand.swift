import ArgumentParser
import Ferry
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
        /// The time for a pause and a resume of a download in the middle of the queue, each with its decision.
        var nanosecondsEachPauseAndResume: Double
    }

    func run() async throws {
        var queue = QueueMachine(limit: 3)
        var last = 0
        func next() -> DownloadID {
            last += 1
            return DownloadID(rawValue: "download-\(last)")
        }
        func join(_ id: DownloadID) { queue.enter(id, key: queue.takeKey(.normal), as: .queued) }
        for _ in 0..<count { join(next()) }
        var running = queue.decide(at: .zero).start
        // As many downloads arrive as end, so the number stays constant.
        let arrivals = (0..<choices).map { _ in next() }
        var start = Meter.now
        for arrival in arrivals {
            if !running.isEmpty {
                let ended = running.removeFirst()
                queue.take(.remove, of: ended)
                queue.take(.ended, of: ended)
            }
            join(arrival)
            running += queue.decide(at: .zero).start
        }
        let perChoice = (Meter.now - start) / Double(max(1, choices))
        let movers = (0..<choices).map { DownloadID(rawValue: "download-\(last - ($0 % max(1, count / 2)))") }
        start = Meter.now
        for mover in movers {
            queue.take(.rest(.parked), of: mover)
            _ = queue.decide(at: .zero)
            join(mover)
            _ = queue.decide(at: .zero)
        }
        let perMove = (Meter.now - start) / Double(max(1, choices))
        try report(
            Report(
                waiting: queue.activeCount - queue.occupiedCount, choices: choices, nanosecondsEach: perChoice * 1e9,
                nanosecondsEachPauseAndResume: perMove * 1e9))
    }
}
