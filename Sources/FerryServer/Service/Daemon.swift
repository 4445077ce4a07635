package import Ferry
import FerryAPI
package import FerryCore
import Foundation
package import Logging
import ServiceLifecycle
import Synchronization

/// The program that holds everybody's downloads: locks its state, opens the list, listens, serves, and leaves in order.
package final class Daemon: Sendable {
    package let place: DaemonPaths
    package let manager: DownloadManager
    let api: API
    let station: EventBroadcaster
    let sessions: SessionStore
    let settings: SettingsController
    let responder: DaemonResponder
    let launcher: Launcher
    let updates = AsyncEvent()
    let logger: Logger
    /// Who may come in through the Unix socket.
    let user: UInt32
    let mostConnections: Int
    let limits: RequestLimits
    let peers: LoopbackPeers
    private let source: SettingsSource
    private let lock: Mutex<DaemonLock?>
    private let group = Mutex<ServiceGroup?>(nil)
    private let wasStopped = Mutex(false)
    let addresses = AddressCache()

    /// The tokens for TCP.
    package var tokens: TokenStore { api.tokens }

    /// What a daemon is made of, beside its place.
    package struct Options: Sendable {
        /// What the command line gave, by the names of settings.
        package var flags: [String: String] = [:]
        package var environment: [String: String] = [:]
        package var pollInterval: Duration = .seconds(2)
        package var user = PeerCheck.ownUser
        /// Connections that are open at a time at one listener; more wait to be accepted.
        package var mostConnections = 512
        /// What starts commands.
        package var starter: any CommandStarter = LocalStarter()
        /// Where this process may write; `nil` where that is not confined.
        package var confinement: Confinement?
        /// How much connections may hold, and how long requests may take to come in.
        package var limits = RequestLimits()
        /// Tells whose connections over loopback are.
        package var peers = LoopbackPeers()
        /// The last word on how the manager is made; for tests.
        package var configure: @Sendable (inout DownloadManager.Configuration) -> Void = { _ in }

        package init() {}

        /// The flag of a setting that is a list; no words give none.
        package mutating func setFlag(_ name: String, to words: [String]) {
            flags[name] = words.isEmpty ? nil : words.joined(separator: String(SettingsSource.separator))
        }
    }

    /// Takes the lock and reads tokens, sessions and settings; nothing listens yet.
    ///
    /// Throws `conflict` when another daemon runs on this state, `disk`, or `invalidRequest` for settings that cannot be
    /// meant.
    package init(_ place: DaemonPaths, _ options: Options = Options(), logger: Logger) async throws(DownloadError) {
        self.place = place
        self.logger = logger
        user = options.user
        mostConnections = options.mostConnections
        limits = options.limits
        peers = options.peers
        // What is in it has modes of its own; nobody else may put anything there.
        try PrivateFile.makeDirectory(place.state, forbidden: 0o022)
        lock = Mutex(try DaemonLock.take(place.lock))
        let (box, confinement) = (SettingsBox(), options.confinement)
        source = try await SettingsSource(
            file: place.settings, environment: options.environment, flags: options.flags,
            defaults: DaemonSettings(directory: place.downloads), pollInterval: options.pollInterval, logger: logger
        ) { new in
            if let refusal = confinement?.refusal(of: new.directory) {
                return logger.warning("the settings were left as they are", metadata: ["error": "\(refusal.message)"])
            }
            await box.keeper?.adopt(new)
        }
        let settings = try source.settings()
        var configuration = DownloadManager.Configuration.default(
            identifier: DaemonPaths.listIdentifier, directory: URL(fileURLWithPath: settings.directory),
            stateDirectory: URL(fileURLWithPath: place.catalogue))
        configuration.logger = logger
        settings.apply(to: &configuration)
        sessions = SessionStore(place.sessions)
        configuration.hosted = sessions.hosted(default: settings.directory)
        if let confinement { configuration.refusal = { confinement.refusal(of: $0) } }
        options.configure(&configuration)
        manager = DownloadManager(configuration)
        station = EventBroadcaster()
        launcher = Launcher(sessions: sessions, station: station, starter: options.starter, logger: logger)
        self.settings = SettingsController(
            settings, file: SettingsFile(path: place.settings), manager: manager, station: station, sessions: sessions)
        api = API(
            manager: manager, station: station, speeds: SpeedHistory(), sessions: sessions, settings: self.settings,
            launcher: launcher, codes: OneTimeCodes(), tokens: TokenStore(place.tokens),
            connections: ConnectionTable(mostUnknown: options.limits.mostUnknown),
            budgets: BodyBudgets(options.limits.bodyBudget), addresses: addresses, signInDirectory: place.signIn,
            confinement: confinement, started: Date(), logger: logger)
        responder = DaemonResponder(api, port: settings.port, logger: logger)
        box.set(self.settings)
    }

    /// Serves until ``stop()``; returns when everything is safe and the lock is given back.
    ///
    /// Throws what keeps it from starting: `catalogue`, `conflict` for a port that is taken, `disk`.
    package func run() async throws(DownloadError) {
        defer {
            api.codes.clear()
            addresses.close()
            lock.withLock { $0 = nil }
        }
        do {
            try await checkPort()
            settings.applySessions()
            try await manager.activate()
            let feeds = try await broadcaster.feeds()
            let services = try listeners()
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: [ManagerService(daemon: self, feeds: feeds), source] + services + [
                        StreamService(daemon: self)
                    ],
                    logger: quiet))
            self.group.withLock { $0 = group }
            if wasStopped.withLock({ $0 }) { await group.triggerGracefulShutdown() }
            try await group.run()
        } catch {
            station.close()
            await manager.shutdown()
            throw (error as? DownloadError)
                ?? DownloadError(.internal, "the daemon cannot run", underlying: "\(error)")
        }
    }

    /// Ends ``run()``: no new connections, streams end, what runs is made safe.
    package func stop() async {
        wasStopped.withLock { $0 = true }
        await group.withLock { $0 }?.triggerGracefulShutdown()
    }

    /// Where it listens, once it does; `nil` when it ended before.
    package func listening() async -> Addresses? { await addresses.wait() }

    var broadcaster: EventRelay {
        EventRelay(
            manager: manager, station: station, speeds: api.speeds, updates: updates, logger: logger
        ) { [self] in await heard($0, $1, isEarlier: $2) }
    }

    /// Hummingbird and the service group speak of their own; only what goes wrong is worth a line.
    var quiet: Logger {
        var logger = logger
        logger.logLevel = max(logger.logLevel, .warning)
        return logger
    }

    private func heard(_ event: DownloadEvent, _ session: String, isEarlier: Bool) async {
        let isDefault = session == FerryAPI.defaultSession
        // What an app has not handled is told at each start; only of the default ones that means that it is new.
        if case .completed(let file) = event.kind, isDefault || !isEarlier {
            launcher.completed(file, id: event.id, session: session, command: settings.current.onComplete)
        }
        guard let number = event.number else { return }
        log(event, session)
        // Nobody comes back for those of the command line and the page.
        if isDefault {
            try? await manager.acknowledge([number])
        } else if isEarlier {
            launcher.waited(number, in: session)
        } else {
            launcher.ended(number, in: session)
        }
    }
}

extension Daemon {
    /// A line for each end: codes and identifiers, nothing that a server or a user said.
    fileprivate func log(_ event: DownloadEvent, _ session: String) {
        var metadata: Logger.Metadata = ["id": "\(event.id)", "session": "\(session)"]
        switch event.kind {
        case .completed(let file):
            metadata["bytes"] = "\(file.totalBytes)"
            metadata["proof"] = "\(file.proof.rawValue)"
            logger.info("completed", metadata: metadata)
        case .failed(let error):
            metadata["code"] = "\(error.code.rawValue)"
            logger.warning("failed", metadata: metadata)
        default: logger.info("cancelled", metadata: metadata)
        }
    }
}

/// Hands the keeper to who was made before it.
private final class SettingsBox: Sendable {
    private struct Weak { weak var keeper: SettingsController? }
    private let held = Mutex(Weak())
    var keeper: SettingsController? { held.withLock { $0.keeper } }
    func set(_ keeper: SettingsController) { held.withLock { $0.keeper = keeper } }
}

/// Follows the manager, and shuts it down when all others have stopped.
private struct ManagerService: Service {
    let daemon: Daemon
    let feeds: EventRelay.Feeds

    func run() async throws {
        let broadcaster = daemon.broadcaster
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await broadcaster.run(feeds) }
            group.addTask { await broadcaster.follow() }
            group.addTask { await daemon.launcher.run() }
            group.addTask {
                while !Task.isCancelled {
                    try? await Task.sleep(for: .seconds(15))
                    daemon.station.tick()
                    daemon.api.codes.expire(at: .sinceStart)
                }
            }
            try? await gracefulShutdown()
            await daemon.manager.shutdown()
            group.cancelAll()
        }
    }
}

/// First to stop: without it the servers would wait for streams that never end.
private struct StreamService: Service {
    let daemon: Daemon

    func run() async throws {
        try? await gracefulShutdown()
        daemon.station.close()
    }
}
