import Ferry
import FerryAPI
import FerryCore
import Foundation
import Logging
import Synchronization

/// Launches the apps of sessions when they have events, and the command after each completed download.
final class Launcher: Sendable {
    private let sessions: SessionStore
    private let broadcaster: EventBroadcaster
    private let starter: any CommandStarter
    private let logger: Logger
    private let policies = Mutex<[String: LaunchPolicy]>([:])
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

    /// Launches apps as they become due, until its task is cancelled.
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
