import FerryAPI
import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// Starts the daemon: in a session of its own, with no descriptor of ours but one, on which it says that it listens, or
/// why it cannot.
///
/// It outlives us. While we live, somebody must take note of its end, or the system keeps its number: a thread waits.
final class DaemonProcess: Sendable {
    /// What became of a start.
    enum Outcome: Sendable, Hashable {
        /// Its socket accepts connections.
        case ready
        /// It cannot listen; with `conflict`, another daemon was quicker, or is still leaving.
        case failed(DownloadError)
        /// It ended without a word, with this status.
        case ended(Int32)
        /// It says nothing.
        case silent
    }

    private let settled = Mutex<Outcome?>(nil)
    private let updates = AsyncEvent()

    /// Starts `binary serve` and waits, at most `limit`, until it is ready.
    ///
    /// It gets of our environment what is on the list of ``ChildEnvironment``, and `environment` over that. Throws
    /// `daemonUnavailable` when it cannot be started.
    static func start(
        _ binary: String, environment: [String: String], within limit: Duration, clock: any EngineClock
    ) async throws(DownloadError) -> Outcome {
        let child: SpawnedProgram
        do throws(SpawnedProgram.Failure) {
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
        return await process.outcome(within: limit, clock: clock)
    }

    private func follow(_ child: SpawnedProgram) {
        // Hears its line, and waits for its end: as long as both live.
        let warden = Thread { [self] in
            if let outcome = Self.outcome(of: child.readyLine()) { settle(outcome) }
            settle(.ended(child.wait()))
        }
        warden.stackSize = 128 << 10
        warden.name = "ferry-daemon"
        warden.start()
    }

    /// What a line says; `nil` for one that is none.
    static func outcome(of line: [UInt8]) -> Outcome? {
        switch try? APICoding.decode(ReadyLine.self, from: Data(line)) {
        case .listening: .ready
        case .failed(let body): .failed(body.error)
        case nil: nil
        }
    }

    private func settle(_ outcome: Outcome) {
        settled.withLock { if $0 == nil { $0 = outcome } }
        updates.notify()
    }

    private func outcome(within limit: Duration, clock: any EngineClock) async -> Outcome {
        // owner: this call, which cancels it.
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
