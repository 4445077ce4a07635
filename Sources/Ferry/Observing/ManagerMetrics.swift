import CoreMetrics
public import FerryCore
import FerryEngine

/// The metrics of a list of downloads: additions, ends, and the times of its database.
package struct ManagerMetrics: Sendable {
    private let factory: any MetricsFactory
    private let additions: Counter
    private let completed: Counter
    private let reads: CoreMetrics.Timer
    private let writes: CoreMetrics.Timer

    /// Creates metrics that record nothing.
    package init() { self.init(NOOPMetricsHandler.instance) }

    init(_ factory: any MetricsFactory) {
        self.factory = factory
        additions = Counter(.added, in: factory)
        completed = Counter(.ended, labels: ["completed", "downloaded"], in: factory)
        reads = Timer(.catalogue, labels: ["read"], in: factory)
        writes = Timer(.catalogue, labels: ["write"], in: factory)
        // Create the counters at zero, so that the first event shows as an increase.
        for reason in ["retry", "restart"] { _ = Counter(.interrupted, labels: [reason], in: factory) }
    }

    /// Counts downloads that were added to the list.
    func added(_ count: Int) { additions.increment(by: count) }

    /// Counts an event. Additions are counted by ``added(_:)`` instead, because they have no event if there is no listener. The
    /// values of labels are error codes and names of states, never texts from servers or users.
    func happened(_ kind: DownloadEvent.Kind) {
        switch kind {
        case .completed(let file):
            file.wasAlreadyComplete
                ? count(.ended, ["completed", "existing"]) : completed.increment()
        case .failed(let error): count(.ended, ["failed", error.code.rawValue])
        case .cancelled: count(.ended, ["cancelled", "user"])
        case .retrying: count(.interrupted, ["retry"])
        case .restarted: count(.interrupted, ["restart"])
        case .waiting(let reason, _): count(.interrupted, [StateKind(.waiting(reason)).rawValue])
        case .added, .started, .resumed, .note, .paused: break
        }
    }

    func did(_ operation: DatabaseQueue.Operation, in time: Duration) {
        switch operation {
        case .read: reads.record(time)
        case .write: writes.record(time)
        }
    }

    /// Counts an event that is too rare for a stored counter; the metrics system identifies the counter by its labels.
    private func count(_ metric: Metric, _ values: [String]) {
        Counter(metric, labels: values, in: factory).increment()
    }
}

extension Metric {
    /// The counters and histograms that a manager reports to its metrics system. `docs/metrics.md` lists the values of
    /// their labels.
    public static let ofDownloads: [Metric] = [
        .receivedBytes, .requests, .firstByte, .sync, .checkpoint, .added, .ended, .interrupted, .duration, .catalogue,
    ]

    static let added = counter("ferry_downloads_added_total", help: "Downloads that were added to the list")
    static let ended = counter(
        "ferry_downloads_ended_total", labels: ["result", "reason"],
        help: "Downloads that ended, by result and the code of the error")
    static let interrupted = counter(
        "ferry_downloads_interrupted_total", labels: ["reason"],
        help: "Retries, restarts from zero, and waits for a network, the disk or the user")
    static let catalogue = histogram(
        "ferry_catalogue_seconds", labels: ["operation"], buckets: diskBuckets,
        help: "Time of an operation of the list's database, with waiting for its turn")
}
