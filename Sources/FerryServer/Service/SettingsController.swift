import Ferry
import FerryAPI
import FerryCore
import Synchronization

/// The settings that count, and their changes: by the sources, and by the API, which writes them into the file.
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
    private let changes = FileChanges()
    /// Hands settings over in the order in which they were set.
    private let telling = AsyncLock()

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

    /// Follows a new reading of the sources. What was changed through the API stays where the file says nothing new: a flag
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

    /// Applies a client's change, and writes it into the file, so that it counts after a restart too.
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

    /// Applies a change to what a session has set for itself; the bounds are those of the daemon's settings.
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

    /// Hands what every session has set for itself to the manager, before it opens.
    func applySessions() {
        for session in sessions.identifiers {
            if let own = sessions.entry(session)?.settings { manager.set(own, of: session) }
        }
    }
}
