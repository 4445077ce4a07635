import Ferry
import FerryCore
import FerryMetrics

/// The metrics of the daemon: what was measured since its start, and what its list, connections and process are now.
final class DaemonMetrics: MetricsSource {
    private let registry: MetricRegistry
    private let manager: DownloadManager
    private let sessions: SessionStore
    private let broadcaster: EventBroadcaster
    private let settings: SettingsController
    private let gateway: GatewayCounts
    /// The directory of the gateway's cache; `nil` without a gateway.
    private let gatewayDirectory: String?
    /// One request at a time reads the list, however many there are.
    private let turn = AsyncLock()

    init(
        _ registry: MetricRegistry, manager: DownloadManager, sessions: SessionStore, broadcaster: EventBroadcaster,
        settings: SettingsController, gateway: GatewayCounts, in gatewayDirectory: String?
    ) {
        (self.gateway, self.gatewayDirectory) = (gateway, gatewayDirectory)
        self.registry = registry
        self.manager = manager
        self.sessions = sessions
        self.broadcaster = broadcaster
        self.settings = settings
    }

    func families() async throws(DownloadError) -> [MetricFamily] {
        await turn.acquire()
        defer { turn.release() }
        let list = try await ManagerReading.families(of: manager)
        let directory = settings.current.directory
        let (free, cacheFree, process) = await onFileThread { [gatewayDirectory] in
            (DiskSpace.free(at: directory), gatewayDirectory.flatMap { DiskSpace.free(at: $0) }, ProcessReading.now())
        }
        var own = [
            .info,
            MetricFamily(.sessions, Double(sessions.identifiers.count)),
            MetricFamily(.clients, Double(broadcaster.clientCount)),
        ]
        if let free { own.append(MetricFamily(.freeBytes, Double(free))) }
        let limits = gatewayDirectory.map { _ in (size: settings.current.gatewaySize, free: cacheFree) }
        return registry.families + list + own + gateway.families(limits) + process.families
    }
}

extension Metric {
    static let freeBytes = gauge("ferry_free_bytes", help: "Free bytes in the directory of downloads")
    static let sessions = gauge("ferry_sessions", help: "Sessions that the daemon knows")
    static let clients = gauge("ferry_clients", help: "Clients that follow the events")

    /// Those of the daemon alone.
    static let ofDaemon = [freeBytes, sessions, clients]
}
