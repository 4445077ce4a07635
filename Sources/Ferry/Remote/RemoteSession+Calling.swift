import FerryAPI
import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// Calls to the daemon: a call waits until the session is joined, and is repeated after a broken connection.
extension RemoteSession {
    /// Sends a call and returns its response. Sets `wasRepeated` if an earlier attempt may have been carried out
    /// without a response.
    func ask<Answer: Decodable & Sendable>(
        _ call: DaemonCall, as type: Answer.Type, wasRepeated: inout Bool
    ) async throws(DownloadError) -> Answer {
        let deadline = clock.now() + place.patience
        while true {
            try await joined(until: deadline)
            let (failures, phase) = state.withLock { ($0.failures, $0.phase) }
            do throws(DaemonFailure) {
                return try await link.send(call, as: type)
            } catch {
                guard case .unreachable = error, clock.now() < deadline else { throw self.error(error) }
                // A cancelled task cannot wait, and would repeat the call without a pause.
                if Task.isCancelled { throw Self.waitWasCancelled }
                wasRepeated = true
                await lost(since: failures, phase)
            }
        }
    }

    func ask<Answer: Decodable & Sendable>(_ call: DaemonCall, as type: Answer.Type) async throws(DownloadError)
        -> Answer
    {
        var wasRepeated = false
        return try await ask(call, as: type, wasRepeated: &wasRepeated)
    }

    /// Sends a call with a JSON body.
    func ask<Answer: Decodable & Sendable>(
        _ route: Route, id: String = "", query: [(name: String, value: String)] = [],
        _ body: some Encodable & Sendable, as type: Answer.Type
    ) async throws(DownloadError) -> Answer {
        try await ask(DaemonCall(route, id: id, query: query, json: body), as: type)
    }

    /// Returns once the session is joined; starts the daemon if it does not run.
    ///
    /// Throws `shutDown`; `daemonUnavailable` if the daemon was never reachable and cannot be started, has another
    /// version, or does not respond before the deadline; the daemon's error if it refuses the session.
    func joined(until deadline: Duration? = nil) async throws(DownloadError) {
        let deadline = deadline ?? clock.now() + place.patience
        let before = state.withLock { state in
            state.callers += 1
            return state.failures
        }
        defer { state.withLock { $0.callers -= 1 } }
        var hasAsked = false
        while true {
            let seen = updates.count
            let (phase, failures, failure, wasJoined) = state.withLock {
                ($0.phase, $0.failures, $0.failure, $0.wasJoined)
            }
            switch phase {
            case .joined: return
            case .closed: throw Self.wasShutDown
            case .idle: beginJoining()
            case .joining:
                if !hasAsked {
                    hasAsked = true
                    link.hurry()
                }
            }
            if let failure, failures > before {
                // Keep waiting for a daemon that was joined before or whose failure is transient; other errors are
                // final.
                let mayCome = if case .transient = failure.recovery { true } else { wasJoined }
                if !mayCome || failure.code != .daemonUnavailable { throw failure }
            }
            let left = deadline - clock.now()
            if left <= .zero {
                throw failure
                    ?? DownloadError(
                        .daemonUnavailable, ErrorPhrase(.daemonSilent, link.socket),
                        recovery: .transient(retryAfter: nil))
            }
            if Task.isCancelled { throw Self.waitWasCancelled }
            await updates.wait(after: seen, atMost: left, by: clock)
        }
    }

    private static let waitWasCancelled = DownloadError(.cancelled, ErrorPhrase(.waitForDaemonWasCancelled))

    /// Waits after a broken connection until the event stream has failed too, at most 200 ms, so that the call is not
    /// repeated in a tight loop while the daemon shuts down.
    private func lost(since failures: Int, _ phase: Phase) async {
        let seen = updates.count
        let isSame = state.withLock { $0.failures == failures && $0.phase == phase }
        if isSame { await updates.wait(after: seen, atMost: .milliseconds(200), by: clock) }
    }

    /// The error for apps of a failed call.
    func error(_ failure: DaemonFailure) -> DownloadError { failure.error(socket: link.socket) }
}
