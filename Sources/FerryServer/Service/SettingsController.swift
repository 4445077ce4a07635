import Ferry
import FerryAPI
import FerryCore
import Synchronization

/// The settings that count, and who may change them: the file, and the API, which writes into the file.
final class SettingsController: Sendable {
    private struct State {
        var current: DaemonSettings
        /// What flags, environment and file said last.
        var given: DaemonSettings
    }
    private let state: Mutex<State>
    private let file: SettingsFile
    private let manager: DownloadManager
    private let station: EventBroadcaster
    private let sessions: SessionStore

    init(
        _ settings: DaemonSettings, file: SettingsFile, manager: DownloadManager, station: EventBroadcaster,
        sessions: SessionStore
    ) {
        state = Mutex(State(current: settings, given: settings))
        self.file = file
        self.manager = manager
        self.station = station
        self.sessions = sessions
    }

    var current: DaemonSettings { state.withLock { $0.current } }

    /// The file has changed. What was changed through the API stays where the file says nothing new: a flag or a variable
    /// does not come back over it.
    func adopt(_ new: DaemonSettings) async {
        let isNew = state.withLock { state in
            var current = state.current
            current.follow(from: state.given, to: new)
            state.given = new
            defer { state.current = current }
            return state.current != current
        }
        if isNew { await tell() }
    }

    /// A client changes them; they are kept in the file, so that they count after a restart too.
    func change(_ change: SettingsChange) async throws -> SettingsBody {
        var new = current
        try new.apply(change)
        try file.merge(change)
        state.withLock { $0.current = new }
        await tell()
        return new.body
    }

    private func tell() async {
        let settings = current
        await manager.configure { settings.apply(to: &$0) }
        station.publish(.settings(settings.body), session: nil)
    }

    // MARK: Sessions

    /// What a session has set for itself; null where it follows the daemon.
    func body(of session: String, _ directory: String) -> SettingsBody {
        var body = SettingsBody(scope: "session", directory: directory)
        let own = sessions.entry(session)?.settings ?? SessionSettings()
        body.maxConcurrentDownloads = own.maxConcurrentDownloads
        body.rateLimit = own.rateLimit
        body.allowsMetered = own.allowsMetered
        body.allowsConstrained = own.allowsConstrained
        return body
    }

    func change(_ change: SettingsChange, of session: String) async throws {
        var own = sessions.entry(session)?.settings ?? SessionSettings()
        if case .set(let count) = change.maxConcurrentDownloads {
            own.maxConcurrentDownloads = try count.map { count throws(Problem) in
                try DaemonSettings.checked(count, 1...1000, "maxConcurrentDownloads")
            }
        }
        if case .set(let rate) = change.rateLimit {
            guard rate.map({ $0 >= 1 }) ?? true else { throw Problem(.badRequest, "rateLimit is below 1.") }
            own.rateLimit = rate
        }
        if case .set(let flag) = change.allowsMetered { own.allowsMetered = flag }
        if case .set(let flag) = change.allowsConstrained { own.allowsConstrained = flag }
        try sessions.set(own, of: session)
        manager.set(own, of: session)
    }

    /// Hands what every session has set for itself to the manager, before it opens.
    func applySessions() {
        for session in sessions.identifiers {
            if let own = sessions.entry(session)?.settings { manager.set(own, of: session) }
        }
    }
}
