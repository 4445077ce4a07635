import FerryAPI
import FerryCore
import FerryEngine
import Logging
import Synchronization

/// Joining the session, and joining it again after the daemon was lost.
extension RemoteSession: EventFollower {
    /// Begins joining, unless that has begun.
    func beginJoining() {
        state.withLock { state in
            guard state.phase == .idle else { return }
            state.phase = .joining
            // owner: state.keeper, cancelled and awaited in shutdown.
            state.keeper = Task { await self.link.follow(self) }
        }
    }

    package func open(mayStart: Bool) async throws(DownloadError) -> EventReader {
        let stream = try await join(mayStart: mayStart)
        updates.notify()
        acknowledge()
        return stream
    }

    package func isToReopen(after failure: DownloadError?) -> Bool {
        state.withLock { state in
            if let failure {
                state.failures.add(failure)
            } else if state.phase == .joined {
                state.phase = .joining
            }
        }
        updates.notify()
        return true
    }

    package var needsDaemon: Bool { state.withLock { $0.callers > 0 } }

    private func join(mayStart: Bool) async throws(DownloadError) -> EventReader {
        let greeting = try await link.reach(mayStart: mayStart) { () async throws(DaemonFailure) in
            try await link.greet()
        }
        let registration = SessionRegistration(
            identifier: place.identifier, directory: place.directory, launchCommand: place.launchCommand)
        let session = try await link.ask(.attach, json: registration, as: SessionBody.self)
        let last = state.withLock { $0.stream.resumption(of: greeting.boot) }
        let stream = try await link.events(after: last)
        return try state.withLock { (state) throws(DownloadError) in
            guard state.phase != .closed else { throw Self.wasShutDown }
            if state.stream.boot != greeting.boot {
                // The log of a new daemon instance begins anew, so accept any position.
                for live in registry.all { live.forgetPosition() }
                state.passing.beginAnew()
            }
            state.directory = session.directory
            state.stream.joined(greeting.boot)
            state.phase = .joined
            state.wasJoined = true
            state.failures = JoinFailures()
            return stream
        }
    }

    /// Reads the running downloads and those with handles again, after events were missed.
    func lookAround() async throws(DaemonFailure) {
        state.withLock { $0.running = RunningDownloads() }
        let running = try await link.send(.list([("state", "downloading,verifying")]), as: DownloadPage.self)
        for said in running.items {
            guard let live = try? live(for: said).live else { continue }
            // The name is set with the server's first response, so the start has been reported.
            let hasBegun = live.status.path != nil
            state.withLock { if hasBegun, $0.running.contains(live.id) { $0.running.began(live.id) } }
        }
        try await lookAtHeld()
    }

    /// Updates all downloads with handles.
    func lookAtHeld() async throws(DaemonFailure) {
        let held = registry.all.filter { !$0.isClosed }
        if held.count > Self.mostAlone { return try await lookAtAll(held) }
        for live in held { try await look(at: live) }
    }

    /// Maximum number of downloads requested one by one; beyond it, the list is read.
    private static let mostAlone = 100

    private func lookAtAll(_ held: [LiveDownload]) async throws(DaemonFailure) {
        var left = Dictionary(held.map { ($0.id, $0) }) { first, _ in first }
        for said in try await link.send(.list(), as: DownloadPage.self).items {
            guard let live = left.removeValue(forKey: said.id) else { continue }
            show(said, on: live)
        }
        // Downloads of other sessions, and those that were removed meanwhile.
        for live in left.values { try await look(at: live) }
    }

    /// Updates one download.
    func look(at live: LiveDownload) async throws(DaemonFailure) {
        do throws(DaemonFailure) {
            let said = try await link.send(DaemonCall(.show, id: live.id.rawValue), as: ListedDownload.self)
            show(said, on: live)
        } catch {
            guard case .refused(let said) = error, said.code == .notFound else { throw error }
            removed([live.id])
        }
    }
}

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
            let attempt = attempt
            do throws(DaemonFailure) {
                return try await link.send(call, as: type)
            } catch {
                guard case .unreachable = error, clock.now() < deadline else { throw self.error(error) }
                // A cancelled task cannot wait, and would repeat the call without a pause.
                if Task.isCancelled { throw Self.waitWasCancelled }
                wasRepeated = true
                await lost(since: attempt)
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
            return state.failures.count
        }
        defer { state.withLock { $0.callers -= 1 } }
        var hasAsked = false
        while true {
            let seen = updates.count
            let (phase, failures, failure, wasJoined) = state.withLock {
                ($0.phase, $0.failures.count, $0.failures.last, $0.wasJoined)
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

    /// How often joining has failed, and the phase.
    struct Attempt: Sendable, Hashable {
        var failures: Int
        var phase: Phase
    }

    var attempt: Attempt { state.withLock { Attempt(failures: $0.failures.count, phase: $0.phase) } }

    /// Waits after a broken connection until the event stream has failed too, at most 200 ms, so that the call is not
    /// repeated in a tight loop while the daemon shuts down.
    func lost(since attempt: Attempt) async {
        let seen = updates.count
        if attempt == self.attempt { await updates.wait(after: seen, atMost: .milliseconds(200), by: clock) }
    }

    /// The error for apps of a failed call.
    func error(_ failure: DaemonFailure) -> DownloadError { failure.error(socket: link.socket) }
}
