import Ferry
import FerryCore
import FerryMetrics

/// The metrics of the daemon: measurements since its start, and the current state of its list, connections and process.
final class DaemonMetrics: MetricsSource {
    private let registry: MetricRegistry
    private let manager: DownloadManager
    private let sessions: SessionStore
    private let broadcaster: EventBroadcaster
    private let settings: SettingsController
    private let doors: DoorPlace
    /// Lets only one request at a time read the list.
    private let turn = AsyncLock()

    init(
        _ registry: MetricRegistry, manager: DownloadManager, sessions: SessionStore, broadcaster: EventBroadcaster,
        settings: SettingsController, doors: DoorPlace
    ) {
        self.registry = registry
        self.manager = manager
        self.sessions = sessions
        self.broadcaster = broadcaster
        self.settings = settings
        self.doors = doors
    }

    func families() async throws(DownloadError) -> [MetricFamily] {
        await turn.acquire()
        defer { turn.release() }
        let list = try await ManagerReading.families(of: manager)
        let directory = settings.current.directory
        let (free, process) = await onFileThread { (DiskSpace.free(at: directory), ProcessReading.now()) }
        var own = [
            .info,
            MetricFamily(.sessions, Double(sessions.identifiers.count)),
            MetricFamily(.clients, Double(broadcaster.clientCount)),
        ]
        if let free { own.append(MetricFamily(.freeBytes, Double(free))) }
        let ofDoors = await doors.opened?.families() ?? []
        return registry.families + list + own + ofDoors + process.families
    }
}

extension Metric {
    static let freeBytes = gauge("ferry_free_bytes", help: "Free bytes in the directory of downloads")
    static let sessions = gauge("ferry_sessions", help: "Sessions that the daemon knows")
    static let clients = gauge("ferry_clients", help: "Clients that follow the events")

    /// The metrics that only a daemon has.
    static let ofDaemon = [freeBytes, sessions, clients]
}
