import Ferry
import FerryAPI
import FerryCore
import FerryEngine
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Starts the daemon in its own process session. The daemon inherits only one pipe, on which it reports that it listens, or why
/// it cannot.
///
/// The daemon outlives this process. While this process lives, a thread waits for the daemon to end, so that no zombie remains.
final class DaemonProcess: Sendable {
    /// The outcome of a start.
    enum Outcome: Sendable, Hashable {
        /// The daemon's socket accepts connections.
        case ready
        /// The daemon cannot listen; with `conflict`, another daemon is already running or still shutting down.
        case failed(DownloadError)
        /// The daemon ended without a report, with this exit status.
        case ended(Int32)
        /// The time limit passed without a report.
        case silent
    }

    /// The maximum time until a started daemon listens, including the opening of its catalogue.
    private static let longestStart: Duration = .seconds(20)

    private let settled = Mutex<Outcome?>(nil)
    private let updates = AsyncEvent()

    /// Starts `binary serve` and waits, at most ``longestStart``, until the daemon is ready.
    ///
    /// The daemon inherits the variables permitted by ``ChildEnvironment``, overridden by `environment`. Throws
    /// `daemonUnavailable` if the program cannot be started.
    static func start(
        _ binary: String, environment: [String: String], clock: any EngineClock
    ) async throws(DownloadError) -> Outcome {
        let child: SpawnedProgram
        do throws(Spawning.Failure) {
            child = try SpawnedProgram.spawn(
                [binary, "serve", "--ready-fd", "3"],
                environment: ChildEnvironment.daemon(from: ProcessInfo.processInfo.environment)
                    .merging(environment) { $1 }, hearsReady: true)
        } catch {
            throw DownloadError(
                .daemonUnavailable, ErrorPhrase(.daemonNotStarted, binary, error.reason), recovery: .needsUser)
        }
        let process = DaemonProcess()
        process.follow(child)
        return await process.outcome(within: longestStart, clock: clock)
    }

    private func follow(_ child: SpawnedProgram) {
        // Reads the report, and then waits for the daemon to end as long as this process lives.
        onOwnThread("ferry-daemon") { [self] in
            if let outcome = Self.outcome(of: child.readyLine()) { settle(outcome) }
            settle(.ended(child.wait()))
        }
    }

    /// The outcome that a line reports; `nil` if it is not a report.
    static func outcome(of line: [UInt8]) -> Outcome? {
        switch try? JSONCoding.decode(ReadyLine.self, from: Data(line)) {
        case .listening: .ready
        case .failed(let body): .failed(body)
        case nil: nil
        }
    }

    private func settle(_ outcome: Outcome) {
        settled.withLock { if $0 == nil { $0 = outcome } }
        updates.notify()
    }

    private func outcome(within limit: Duration, clock: any EngineClock) async -> Outcome {
        // owner: this call, which cancels the task.
        let alarm = Task { [self] in
            try? await clock.sleep(for: limit)
            if !Task.isCancelled { settle(.silent) }
        }
        defer { alarm.cancel() }
        while true {
            let seen = updates.count
            if let outcome = settled.withLock({ $0 }) { return outcome }
            if Task.isCancelled { return .silent }
            await updates.wait(after: seen)
        }
    }
}
