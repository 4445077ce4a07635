import Dispatch
import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// Starts the daemon: in a session of its own, with no descriptor of ours but one, on which it says that it is ready.
///
/// It outlives us. While we live, somebody must take note of its end, or the system keeps its number: a thread waits.
final class DaemonProcess: Sendable {
    /// What became of a start.
    enum Outcome: Sendable, Hashable {
        /// Its socket accepts connections.
        case ready
        /// It ended before, with this status: another daemon may have been quicker.
        case ended(Int32)
        /// It says nothing.
        case silent
    }

    private struct State {
        var outcome: Outcome?
        var hasClosed = false
    }
    private let state = Mutex(State())
    private let bell = Signal()

    /// Starts `binary serve` and waits, at most `limit`, until it is ready.
    ///
    /// `environment` holds variables that replace ours. Throws `daemonUnavailable` when it cannot be started.
    static func start(
        _ binary: String, environment: [String: String], within limit: Duration, clock: any EngineClock
    ) async throws(DownloadError) -> Outcome {
        let child: SpawnedDaemon
        do throws(SpawnedDaemon.Failure) {
            child = try SpawnedDaemon.spawn(
                [binary, "serve", "--ready-fd", "3"],
                environment: ProcessInfo.processInfo.environment.merging(environment) { $1 })
        } catch {
            throw DownloadError(
                .daemonUnavailable, ErrorPhrase(.daemonNotStarted, binary, error.reason), recovery: .needsUser)
        }
        let process = DaemonProcess()
        process.follow(child)
        return await process.outcome(within: limit, clock: clock)
    }

    private func follow(_ child: SpawnedDaemon) {
        // Ends with its first word, or when it closes the pipe: at the latest with its end.
        let listener = Thread { [self] in
            let isReady = child.readyReads()
            if isReady { settle(.ready) }
        }
        listener.stackSize = 128 << 10
        listener.name = "ferry-daemon-ready"
        listener.start()
        let warden = Thread { [self] in settle(.ended(child.wait())) }
        warden.stackSize = 128 << 10
        warden.name = "ferry-daemon-end"
        warden.start()
    }

    private func settle(_ outcome: Outcome) {
        state.withLock { if $0.outcome == nil { $0.outcome = outcome } }
        bell.ring()
    }

    private func outcome(within limit: Duration, clock: any EngineClock) async -> Outcome {
        // owner: this call, which cancels it.
        let alarm = Task { [self] in
            try? await clock.sleep(for: limit)
            if !Task.isCancelled { settle(.silent) }
        }
        defer { alarm.cancel() }
        while true {
            let heard = bell.rings
            if let outcome = state.withLock({ $0.outcome }) { return outcome }
            if Task.isCancelled { return .silent }
            await bell.wait(after: heard)
        }
    }
}
