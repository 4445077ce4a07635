import Ferry
import FerryAPI
package import FerryCore
import Logging
import Synchronization

/// Launches the app of a session that has events, and runs the commands for completed downloads and for downloads that need their
/// user.
final class Launcher: Sendable {
    private let sessions: SessionStore
    private let broadcaster: EventBroadcaster
    private let starter: any CommandStarter
    private let logger: Logger
    private let policies = Mutex<[String: LaunchPolicy]>([:])
    private let needs = Mutex(NeedMemory())
    /// Notified when an event ends a download, a client disconnects, or a command exits.
    private let updates = AsyncEvent()

    init(sessions: SessionStore, broadcaster: EventBroadcaster, starter: any CommandStarter, logger: Logger) {
        self.sessions = sessions
        self.broadcaster = broadcaster
        self.starter = starter
        self.logger = logger
        broadcaster.whenClientsChange { [weak self] session in self?.clientsChanged(session) }
    }

    /// The time in which clients may reconnect after the start of the daemon.
    private static let grace: Duration = .seconds(10)

    /// Records an event that ended a download.
    func ended(_ number: Int64, in session: String) { ended(number, in: session, LaunchPolicy()) }

    /// Records an event that was already unacknowledged when the daemon started.
    func waited(_ number: Int64, in session: String) {
        ended(number, in: session, LaunchPolicy(earliest: .sinceStart + Self.grace))
    }

    private func ended(_ number: Int64, in session: String, _ policy: LaunchPolicy) {
        guard let command = sessions.entry(session)?.launchCommand, !command.isEmpty else { return }
        policies.withLock { $0[session, default: policy].ended(number) }
        updates.notify()
    }

    /// Records the events that the app has handled.
    func acknowledged(_ numbers: [Int64], in session: String) {
        policies.withLock { $0[session]?.acknowledged(numbers) }
    }

    private func clientsChanged(_ session: String) {
        if broadcaster.clients(of: session) == 0 { updates.notify() }
    }

    /// Launches apps when they are due, until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            let seen = updates.count
            var next: Duration?
            for session in policies.withLock({ Array($0.keys) }) {
                let hasClient = broadcaster.clients(of: session) > 0
                let decision = policies.withLock {
                    $0[session]?.decide(hasClient: hasClient, at: .sinceStart) ?? .nothing
                }
                switch decision {
                case .nothing: break
                case .wait(let until): next = min(next ?? until, until)
                case .launch: launch(session)
                }
            }
            if let next {
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { await self.updates.wait(after: seen) }
                    group.addTask { try? await Task.sleep(for: max(.zero, next - .sinceStart)) }
                    await group.next()
                    group.cancelAll()
                }
            } else {
                await updates.wait(after: seen)
            }
        }
    }

    private func launch(_ session: String) {
        guard let command = sessions.entry(session)?.launchCommand, !command.isEmpty else { return }
        logger.info("launching the app of a session", metadata: ["session": "\(session)"])
        start(command, ["FERRY_SESSION": session]) { [weak self] in
            self?.policies.withLock { $0[session]?.exited() }
            self?.updates.notify()
        }
    }

    /// Runs the completion command for a download.
    func completed(_ file: FinishedDownload, id: DownloadID, session: String, command: [String]) {
        guard !command.isEmpty else { return }
        start(
            command,
            [
                "FERRY_SESSION": session, "FERRY_ID": id.rawValue, "FERRY_PATH": file.path,
                "FERRY_PROOF": file.proof.rawValue,
            ]
        ) {}
    }

    /// Returns the reason why the download of an event needs its user; `nil` if there is none, or if it was already reported.
    func need(in event: DownloadEvent) -> String? { needs.withLock { $0.news(in: event) } }

    /// Runs the command for a download that needs its user.
    func needsUser(_ need: String, _ event: DownloadEvent, name: String, session: String, command: [String]) {
        start(
            command,
            [
                "FERRY_SESSION": session, "FERRY_ID": event.id.rawValue, "FERRY_NAME": name, "FERRY_REASON": need,
                "FERRY_MESSAGE": event.reason(in: .current) ?? "",
            ]
        ) {}
    }

    private func start(_ command: [String], _ variables: [String: String], exited: @escaping @Sendable () -> Void) {
        starter.start(command, variables) { [logger] failure in
            if let failure {
                logger.error(
                    "a command cannot be started", metadata: ["program": "\(command[0])", "error": "\(failure)"])
            }
            exited()
        }
    }
}

/// Remembers which downloads need their user, so that each need is reported once. An attempt that ends for the same reason as the
/// one before is not a new need, except an attempt with credentials that the user gave. Pure.
package struct NeedMemory: Sendable {
    private var needs: [DownloadID: String] = [:]
    /// The maximum number of remembered needs. When it is reached, all are forgotten.
    private static let most = 100_000

    package init() {}

    /// Returns the new need of the event's download; `nil` if it has none, or the need is already known.
    package mutating func news(in event: DownloadEvent) -> String? {
        switch event.kind {
        case .waiting(let reason, _):
            // A wait that ends by itself does not satisfy an earlier need.
            guard [.freshLink, .credentials, .diskSpace].contains(reason) else { return nil }
            // Only the user ends a wait for credentials, so the next wait means that the credentials were wrong.
            if reason == .credentials { needs[event.id] = nil }
            return news(reason.kind.rawValue, of: event.id)
        case .failed(let error): return news(error.code.rawValue, of: event.id)
        case .started, .resumed, .restarted, .paused, .completed, .cancelled:
            needs[event.id] = nil
            return nil
        case .added, .retrying, .note: return nil
        }
    }

    private mutating func news(_ need: String, of id: DownloadID) -> String? {
        if needs.count >= Self.most { needs = [:] }
        return needs.updateValue(need, forKey: id) == need ? nil : need
    }
}

/// Decides when to launch a session's app: once per burst of events, when events are unacknowledged and no client is connected.
/// Pure.
///
/// An event counts as handled when it is acknowledged, not when a client is connected: a connected client may crash before it
/// handles an event.
package struct LaunchPolicy: Sendable, Hashable {
    /// The minimum time between two launches.
    package static let pause: Duration = .seconds(30)

    /// The unacknowledged events.
    private var pending: Set<Int64> = []
    /// The newest event that caused a launch, so that the app is not launched twice for an event that it ignores.
    private var launchedFor: Int64 = 0
    private var isRunning = false
    private var earliest: Duration?

    /// - Parameter earliest: The earliest time of a launch, because clients from before the daemon's start may reconnect by
    ///   themselves.
    package init(earliest: Duration? = nil) { self.earliest = earliest }

    /// The result of ``decide(hasClient:at:)``.
    package enum Decision: Sendable, Hashable {
        case nothing
        case launch
        /// Decide again at this time.
        case wait(until: Duration)
    }

    /// Records an event that ended a download.
    package mutating func ended(_ number: Int64) { pending.insert(number) }

    /// Records the events that the app has handled.
    package mutating func acknowledged(_ numbers: some Sequence<Int64>) { pending.subtract(numbers) }

    /// Records the exit of the launched command.
    package mutating func exited() { isRunning = false }

    /// Returns the next action, and records a launch as started. `hasClient` is whether the session has a client.
    package mutating func decide(hasClient: Bool, at now: Duration) -> Decision {
        guard !hasClient, !isRunning, let newest = pending.max(), newest > launchedFor else { return .nothing }
        if let earliest, now < earliest { return .wait(until: earliest) }
        launchedFor = newest
        isRunning = true
        earliest = now + Self.pause
        return .launch
    }
}
