import Ferry
import FerryCore
import FerryMetrics

/// The metrics of a worker: measurements since its start, and the current state of its list, leases, connections and process. The
/// database is not queried.
final class WorkerMetrics: MetricsSource {
    private let registry: MetricRegistry
    private let manager: DownloadManager
    private let reading: @Sendable () async -> WorkerReading
    /// Lets only one request at a time read the list.
    private let turn = AsyncLock()

    init(
        _ registry: MetricRegistry, manager: DownloadManager, reading: @escaping @Sendable () async -> WorkerReading
    ) {
        (self.registry, self.manager, self.reading) = (registry, manager, reading)
    }

    func families() async throws(DownloadError) -> [MetricFamily] {
        await turn.acquire()
        defer { turn.release() }
        let reading = await reading()
        let list = reading.hasJoined ? try await ManagerReading.families(of: manager) : []
        let process = await onFileThread { ProcessReading.now() }
        return registry.families + list + [.info] + process.families + reading.families
    }
}
