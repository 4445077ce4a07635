import Ferry
import FerryAPI
import FerryCore
import Logging
import ServiceLifecycle
import Synchronization

/// Holds the current settings, and applies changes to them: from the sources, and from the API, whose changes are written to the
/// file.
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
    /// The sessions of doors. They have their own slots, because their clients would otherwise time out behind downloads that no
    /// program waits for.
    private let doorSessions: Set<String>
    /// The proxies of the environment.
    private let proxies: ProxySettings
    private let changes = FileChanges()
    /// Serializes the application of settings, in the order in which they were set.
    private let telling = AsyncLock()

    init(
        _ settings: DaemonSettings, file: SettingsFile, manager: DownloadManager, broadcaster: EventBroadcaster,
        sessions: SessionStore, ofDoors doorSessions: Set<String>, proxies: ProxySettings
    ) {
        self.doorSessions = doorSessions
        state = Mutex(State(current: settings, given: settings))
        self.file = file
        self.manager = manager
        self.broadcaster = broadcaster
        self.sessions = sessions
        self.proxies = proxies
    }

    var current: DaemonSettings { state.withLock { $0.current } }

    /// Applies a new reading of the sources. A change through the API stays until the file has a new value; flags and variables
    /// that stay the same do not undo it.
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

    /// Applies a client's change, and writes it to the file, so that it still applies after a restart.
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

    /// The settings of a session; null where the daemon's setting applies.
    func body(of session: String, _ directory: String) -> SettingsBody {
        var body = SettingsBody(scope: "session", directory: directory)
        let own = sessions.entry(session)?.settings ?? SessionSettings()
        body.maxConcurrentDownloads = own.maxConcurrentDownloads
        body.rateLimit = own.rateLimit
        body.allowsMetered = own.allowsMetered
        body.allowsConstrained = own.allowsConstrained
        return body
    }

    /// Applies a change to the settings of a session; the daemon's settings are the bounds.
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
        apply(sessions.entry(session)?.settings, to: session)
    }

    /// Applies the settings of every session to the manager, before the manager opens.
    func applySessions() {
        for session in doorSessions.union(sessions.identifiers) {
            apply(sessions.entry(session)?.settings, to: session)
        }
    }

    private func apply(_ own: SessionSettings?, to session: String) {
        var settings = own ?? SessionSettings()
        if doorSessions.contains(session) { settings.hasOwnSlots = true }
        if settings != SessionSettings() || own != nil { manager.set(settings, of: session) }
    }
}

/// Reads the settings file again after each change; an unusable file changes nothing, and the reason is logged.
struct SettingsWatcher: Service {
    typealias Members = [String: JSONValue]

    let source: SettingsSource
    /// The members of the file at the start.
    let members: Members
    let controller: SettingsController
    let confinement: Confinement?
    let pollInterval: Duration
    let logger: Logger

    /// Polls the file until the daemon stops.
    func run() async {
        await cancelWhenGracefulShutdown {
            var last = Result<Members, DownloadError>.success(members)
            while (try? await Task.sleep(for: pollInterval)) != nil {
                let found = Result { () throws(DownloadError) in try source.file.read() }
                guard found != last else { continue }
                // Writes by the API keep unknown members, so these are reported only when they change.
                if case .success(let new) = found, (try? last.get()).map(source.unknown) != source.unknown(new) {
                    Self.warn(new, of: source, logger)
                }
                last = found
                await follow(found)
            }
        }
    }

    private func follow(_ found: Result<Members, DownloadError>) async {
        do throws(DownloadError) {
            let members = try found.get()
            // The settings of doors apply at the next start. They are checked here, because invalid ones would prevent it.
            _ = try source.doorSettings(with: members)
            let new = try source.settings(with: members)
            if let refusal = confinement?.refusal(of: new.directory) { throw refusal }
            try await controller.adopt(new)
        } catch {
            logger.warning("the settings were left as they are", metadata: ["error": "\(error.message)"])
        }
    }

    /// Logs the unknown members.
    static func warn(_ members: Members, of source: SettingsSource, _ logger: Logger) {
        let names = source.unknown(members)
        guard !names.isEmpty else { return }
        logger.warning(
            "the settings have members that are not known",
            metadata: ["file": "\(source.file.path)", "members": "\(names.joined(separator: ", "))"])
    }
}

/// Makes the changes of one file one at a time, and not on an event loop. Otherwise a sync would block the event loop, and every
/// request that waits for the same lock.
final class FileChanges: Sendable {
    private let lock = AsyncLock()

    /// Runs a change of the file and of its copy in memory. The next change begins only when this change has ended.
    ///
    /// Cancellation does not end a change.
    func run<Value: Sendable, Failure: Error>(
        _ change: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        await lock.acquire()
        defer { lock.release() }
        return try await onFileThread(change)
    }
}
