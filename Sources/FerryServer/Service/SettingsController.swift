import Ferry
import FerryAPI
import FerryCore
import Synchronization

/// The current settings and their changes: by the sources, and by the API, which writes them into the file.
final class SettingsController: Sendable {
    private struct State {
        var current: DaemonSettings
        /// The last reading of flags, environment and file.
        var given: DaemonSettings
    }
    private let state: Mutex<State>
    private let file: SettingsFile
    private let manager: DownloadManager
    private let broadcaster: EventBroadcaster
    private let sessions: SessionStore
    /// The proxies of the environment.
    private let proxies: ProxySettings
    private let changes = FileChanges()
    /// Applies settings in the order in which they were set.
    private let telling = AsyncLock()

    init(
        _ settings: DaemonSettings, file: SettingsFile, manager: DownloadManager, broadcaster: EventBroadcaster,
        sessions: SessionStore, proxies: ProxySettings
    ) {
        state = Mutex(State(current: settings, given: settings))
        self.file = file
        self.manager = manager
        self.broadcaster = broadcaster
        self.sessions = sessions
        self.proxies = proxies
    }

    var current: DaemonSettings { state.withLock { $0.current } }

    /// Applies a new reading of the sources. A change through the API stays unless the file has a new value: a flag
    /// or a variable does not replace it again.
    func adopt(_ new: DaemonSettings) async throws(DownloadError) {
        let isNew: Bool
        do throws(Problem) {
            isNew = try state.withLock { state throws(Problem) in
                let old = state.current
                state.current = try old.merging(new, since: state.given)
                state.given = new
                return state.current != old
            }
        } catch { throw error.downloadError }
        if isNew { await tell() }
    }

    /// Applies a client's change, and writes it into the file, so that it applies after a restart too.
    func change(_ change: SettingsChange) async throws -> SettingsBody {
        let members = try [Setting: JSONValue](encoding: change)
        let new = try await changes.run {
            _ = try self.current.merging(members)
            try self.file.merge(change)
            return try self.state.withLock { state throws(Problem) in
                state.current = try state.current.merging(members)
                return state.current
            }
        }
        await tell()
        return new.body
    }

    private func tell() async {
        await telling.acquire()
        defer { telling.release() }
        let settings = current
        await manager.configure { [proxies] in settings.apply(to: &$0, proxies: proxies) }
        broadcaster.publish(.settings(settings.body), session: nil)
    }

    // MARK: Sessions

    /// The settings of a session; null where it follows the daemon.
    func body(of session: String, _ directory: String) -> SettingsBody {
        var body = SettingsBody(scope: "session", directory: directory)
        let own = sessions.entry(session)?.settings ?? SessionSettings()
        body.maxConcurrentDownloads = own.maxConcurrentDownloads
        body.rateLimit = own.rateLimit
        body.allowsMetered = own.allowsMetered
        body.allowsConstrained = own.allowsConstrained
        return body
    }

    /// Applies a change to the settings of a session; the bounds are those of the daemon's settings.
    func change(_ change: SettingsChange, of session: String) async throws {
        _ = try current.merging(try .init(encoding: change))
        try await sessions.changeSettings(of: session) { own in
            if case .set(let count) = change.maxConcurrentDownloads { own.maxConcurrentDownloads = count }
            if case .set(let rate) = change.rateLimit { own.rateLimit = rate }
            if case .set(let flag) = change.allowsMetered { own.allowsMetered = flag }
            if case .set(let flag) = change.allowsConstrained { own.allowsConstrained = flag }
        }
        await telling.acquire()
        defer { telling.release() }
        manager.set(sessions.entry(session)?.settings ?? SessionSettings(), of: session)
    }

    /// Applies the settings of every session to the manager, before it opens.
    func applySessions() {
        for session in sessions.identifiers {
            if let own = sessions.entry(session)?.settings { manager.set(own, of: session) }
        }
    }
}
