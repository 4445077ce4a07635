package import Ferry
import FerryAPI
package import FerryCore
import FerryMetrics
package import Logging
import ServiceLifecycle
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The daemon: locks the state directory, opens the catalogue, listens, serves, and shuts down in order.
package final class Daemon: Sendable {
    package let place: DaemonPaths
    package let manager: DownloadManager
    let api: API
    let broadcaster: EventBroadcaster
    let sessions: SessionStore
    let settings: SettingsController
    let responder: DaemonResponder
    /// The interfaces with their own ports that the settings enable.
    let doors: OpenDoors
    let launcher: Launcher
    let updates = AsyncEvent()
    /// Notified when a client requests that the daemon end.
    private let shutdown = AsyncEvent()
    let logger: Logger
    /// The user whose processes may use the Unix socket.
    let user: UInt32
    let mostConnections: Int
    /// Whether the daemon fails to start if the port of its settings is in use, because an option names that port.
    let mustHavePort: Bool
    private let downloads: [DownloadRequest]
    /// The sockets inherited from the service manager.
    let sockets: InheritedSockets
    /// Reports to the service manager that the daemon is ready, alive and stopping; `nil` without a service manager.
    let notifier: ServiceNotifier?
    let limits: RequestLimits
    let peers: LoopbackPeers
    /// The connections of other users that receive the reason for their refusal.
    let strangers: ConnectionTable
    private let watcher: SettingsWatcher
    private let lock: Mutex<DaemonLock?>
    private let group = Mutex<ServiceGroup?>(nil)
    private let wasStopped = Mutex(false)
    let addresses = AddressCache()

    /// The tokens for TCP.
    package var tokens: TokenStore { api.tokens }

    /// The daemon's parameters besides its paths.
    package struct Options: Sendable {
        /// Command-line flags.
        package var flags = SettingValues()
        package var environment: [String: String] = [:]
        package var pollInterval: Duration = .seconds(2)
        package var user = PeerCheck.ownUser
        /// The maximum number of open connections per listener; further connections wait to be accepted.
        package var mostConnections = 512
        /// Starts launch and completion commands.
        package var starter: any CommandStarter = LocalStarter()
        /// The directories in which this process may write; `nil` if it is not confined.
        package var confinement: Confinement?
        /// Limits on connections and requests.
        package var limits = RequestLimits()
        /// How long a sign-in code is valid.
        package var codeLifetime = OneTimeCodes.standardLifetime
        /// Looks up the users of loopback connections.
        package var peers = LoopbackPeers()
        /// The doors of this program other than the metrics.
        package var doors: [DoorKind] = []
        /// Defaults for a door's own options, by the name of the door; used where its clients give no value.
        package var doorDefaults: [String: [String: String]] = [:]
        /// Downloads to add at the start, unless they are already listed.
        package var downloads: [DownloadRequest] = []
        /// The sockets inherited from the service manager.
        package var sockets = InheritedSockets()
        /// Reports the daemon's state to the service manager.
        package var notifier: ServiceNotifier?
        /// The subordinate user IDs, in the format of `/etc/subuid`; `nil` for that file.
        var subordinates: String?
        /// Adjusts the manager's configuration after everything else; for tests.
        package var configure: @Sendable (inout DownloadManager.Configuration) -> Void = { _ in }

        package init() {}

        /// All doors that the daemon has.
        package var kinds: [DoorKind] { doors + [.metrics] }

        /// The sources of the settings of the daemon and its doors. Throws like the initializer of ``SettingsSource``.
        func settings(at place: DaemonPaths) throws(DownloadError) -> SettingsSource {
            try SettingsSource(
                file: place.settings, environment: environment, flags: flags,
                defaults: DaemonSettings(directory: place.downloads), doors: kinds.flatMap(\.settings))
        }
    }

    /// Takes the state lock and reads tokens, sessions and settings. Does not listen yet.
    ///
    /// Throws `conflict` if another daemon uses this state, `disk`, or `invalidRequest` for invalid settings.
    package init(_ place: DaemonPaths, _ options: Options = Options(), logger: Logger) throws(DownloadError) {
        self.place = place
        self.logger = logger
        user = options.user
        mostConnections = options.mostConnections
        mustHavePort = options.flags[.port] != nil
        downloads = options.downloads
        sockets = options.sockets
        notifier = options.notifier
        if let handed = sockets.path?.path, !handed.hasSameBytes(as: place.socket) {
            throw DownloadError(
                .invalidRequest, ErrorPhrase(.otherSocketPath, handed, place.socket),
                suggestion: ErrorPhrase(.listenForFerry), recovery: .needsUser)
        }
        limits = options.limits
        peers = options.peers
        strangers = ConnectionTable(mostUnknown: options.limits.mostStrangers)
        // The files in the directory have restrictive modes themselves; other users must not be able to create any.
        try PrivateFile.makeDirectory(place.state, forbidden: 0o022)
        lock = Mutex(try DaemonLock.take(place.lock, socket: place.socket))
        PrivateFile.removeUnfinished(in: place.state)
        let confinement = options.confinement
        let source = try options.settings(at: place)
        let members = try source.file.read()
        SettingsWatcher.warn(members, of: source, logger)
        let settings = try source.settings(with: members)
        let doorSettings = try source.doorSettings(with: members)
        var configuration = DownloadManager.Configuration.default(
            identifier: DaemonPaths.listIdentifier, directory: settings.directory,
            stateDirectory: place.catalogue)
        configuration.logger = logger
        let registry = MetricRegistry()
        configuration.server.metrics = registry
        let proxies: ProxySettings
        do throws(TextError) { proxies = try ProxySettings(environment: options.environment) } catch {
            throw DownloadError(.invalidRequest, error.reason, recovery: .needsUser)
        }
        settings.apply(to: &configuration, proxies: proxies)
        configuration.transfer.caFile = TransferSettings.caFile(in: options.environment)
        configuration.transfer.s3 = S3Settings(environment: options.environment)
        // Otherwise clients would see requests that are signed with the daemon's keys.
        configuration.transfer.s3.allowsOwnRoute = false
        sessions = SessionStore(place.sessions)
        configuration.hosted = sessions.hosted(default: settings.directory)
        if let confinement { configuration.refusal = { confinement.refusal(of: $0) } }
        options.configure(&configuration)
        manager = DownloadManager(configuration)
        broadcaster = EventBroadcaster()
        launcher = Launcher(sessions: sessions, broadcaster: broadcaster, starter: options.starter, logger: logger)
        let kinds = options.kinds
        self.settings = SettingsController(
            settings, file: source.file, manager: manager, broadcaster: broadcaster, sessions: sessions,
            ofDoors: Set(kinds.compactMap(\.session)), proxies: proxies)
        watcher = SettingsWatcher(
            source: source, members: members, controller: self.settings, confinement: confinement,
            pollInterval: options.pollInterval, logger: logger)
        let ofDoors = DoorPlace()
        api = API(
            manager: manager, broadcaster: broadcaster, speeds: SpeedHistory(), sessions: sessions,
            settings: self.settings,
            launcher: launcher, sets: SetKeeper(SetStore(place.sets), manager, broadcaster, logger: logger),
            codes: OneTimeCodes(lifetime: options.codeLifetime), tokens: TokenStore(place.tokens),
            connections: ConnectionTable(mostUnknown: options.limits.mostUnknown),
            budgets: BodyBudgets(options.limits.bodyBudget), seats: ContentSeats(most: options.limits.mostReaders),
            addresses: addresses,
            metrics: DaemonMetrics(
                registry, manager: manager, sessions: sessions, broadcaster: broadcaster, settings: self.settings,
                doors: ofDoors),
            doors: ofDoors,
            signInDirectory: place.signIn,
            confinement: confinement, started: Date(), logger: logger)
        responder = DaemonResponder(api, port: settings.port, logger: logger)
        doors = try OpenDoors(
            kinds, DoorHost(api, settings: doorSettings, place: place, options: options, shutdown: shutdown))
        ofDoors.open(doors)
    }

    /// Serves until ``stop()``. Returns when all state is durable and the lock is released.
    ///
    /// Throws if the start fails: `catalogue`, `conflict` for a socket or port in use, or `disk`.
    package func run() async throws(DownloadError) {
        defer {
            api.codes.clear()
            addresses.close()
            lock.withLock { $0 = nil }
        }
        do {
            try await checkAddresses()
            settings.applySessions()
            try await manager.activate()
            let feeds = await relay.feeds()
            if !downloads.isEmpty { _ = try await api.add(downloads, session: FerryAPI.defaultSession, isLocal: true) }
            var services = try listeners()
            if let notifier { services.append(NotifierService(notifier: notifier, daemon: self)) }
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: [ManagerService(daemon: self, feeds: feeds), watcher] + services + [
                        StreamService(daemon: self)
                    ],
                    logger: quiet))
            self.group.withLock { $0 = group }
            if wasStopped.withLock({ $0 }) { await group.triggerGracefulShutdown() }
            try await group.run()
        } catch {
            broadcaster.close()
            await manager.shutdown()
            throw (error as? DownloadError)
                ?? DownloadError(.internal, "the daemon cannot run", underlying: "\(error)")
        }
    }

    /// Ends ``run()``: accepts no new connections, ends streams, and saves the running downloads.
    package func stop() async {
        wasStopped.withLock { $0 = true }
        await group.withLock { $0 }?.triggerGracefulShutdown()
    }

    /// Ends ``run()`` when a client requests it.
    fileprivate func stopOnRequest() async {
        await shutdown.wait(after: 0)
        if shutdown.count > 0 { await stop() }
    }

    /// Returns the addresses once all listeners are bound; `nil` if the daemon ends first.
    package func listening() async -> Addresses? { await addresses.wait() }

    var relay: EventRelay {
        EventRelay(
            manager: manager, broadcaster: broadcaster, speeds: api.speeds, updates: updates, logger: logger
        ) { [self] in await heard($0, $1, isEarlier: $2) }
    }

    /// The logger for the HTTP server and the service group, limited to warnings.
    var quiet: Logger {
        var logger = logger
        logger.logLevel = max(logger.logLevel, .warning)
        return logger
    }

    private func heard(_ event: DownloadEvent, _ session: String, isEarlier: Bool) async {
        let isDefault = session == FerryAPI.defaultSession
        if isDefault, !isEarlier { doors.heard(event, in: session) }
        if doors.owns(session) {
            // The door's clients wait for the bytes. No app handles the events, and no command runs for each file.
            log(event, session)
            event.acknowledge()
            doors.heard(event, in: session)
            return
        }
        if session == SetKeeper.session {
            // The run of the set records the end of each download.
            log(event, session)
            event.acknowledge()
            return
        }
        // An app's unacknowledged events are repeated at each start, so an earlier event is new only in the default session, whose
        // events are acknowledged at once.
        if case .completed(let file) = event.kind, isDefault || !isEarlier {
            launcher.completed(file, id: event.id, session: session, command: settings.current.onComplete)
        }
        let command = settings.current.onNeedsUser
        if isDefault || !isEarlier, let need = launcher.need(in: event), !command.isEmpty {
            let name = await name(of: event.id) ?? ""
            launcher.needsUser(need, event, name: name, session: session, command: command)
        }
        guard let number = event.number else { return }
        log(event, session)
        // The default session has no app that would acknowledge its events.
        if isDefault {
            // Waits until the acknowledgement is durable only if a repeated event would run a command again, because other events
            // wait meanwhile.
            let repeated: [String] =
                switch event.kind {
                case .completed: settings.current.onComplete
                case .failed: command
                default: []
                }
            if repeated.isEmpty { event.acknowledge() } else { try? await manager.acknowledge([number]) }
        } else if isEarlier {
            launcher.waited(number, in: session)
        } else {
            launcher.ended(number, in: session)
        }
    }

    private func name(of id: DownloadID) async -> String? {
        try? await manager.listed([id]).first?.status.name
    }
}

extension Daemon {
    /// Logs each final event with codes and identifiers only, without text from servers or the user.
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
        case .cancelled: logger.info("cancelled", metadata: metadata)
        case .added, .started, .resumed, .retrying, .restarted, .waiting, .note, .paused: break
        }
    }
}

/// Runs the event relay and the launcher, and shuts the manager down after all other services have stopped.
private struct ManagerService: Service {
    let daemon: Daemon
    let feeds: EventRelay.Feeds

    func run() async throws {
        let relay = daemon.relay
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await relay.run(feeds) }
            group.addTask { await relay.follow() }
            group.addTask { await daemon.launcher.run() }
            group.addTask { await daemon.stopOnRequest() }
            group.addTask { await daemon.doors.run() }
            group.addTask { await daemon.api.sets.run() }
            group.addTask {
                var memory = FreeMemory()
                while !Task.isCancelled {
                    try? await Task.sleep(for: .seconds(15))
                    daemon.broadcaster.tick()
                    daemon.api.codes.expire(at: .sinceStart)
                    await memory.look()
                }
            }
            try? await gracefulShutdown()
            await daemon.api.sets.stop()
            await daemon.manager.shutdown()
            group.cancelAll()
        }
    }
}

/// Ends event streams. Stops first: the servers would otherwise wait for streams that never end.
private struct StreamService: Service {
    let daemon: Daemon

    func run() async throws {
        try? await gracefulShutdown()
        daemon.broadcaster.close()
    }
}
