package import CoreMetrics
package import FerryCore

/// The metrics of transfers, recorded at requests, checkpoints and ticks, never at single pieces.
package struct EngineMetrics: Sendable {
    private let receivedBytes: Counter
    private let firstByte: CoreMetrics.Timer
    private let sync: CoreMetrics.Timer
    private let checkpoint: CoreMetrics.Timer
    private let duration: CoreMetrics.Timer
    /// By status class, from 1xx.
    private let responses: [Counter]
    private let failures: Counter

    /// - Parameter factory: The metrics system; by default one that discards everything.
    package init(_ factory: any MetricsFactory = NOOPMetricsHandler.instance) {
        receivedBytes = Counter(.receivedBytes, in: factory)
        firstByte = Timer(.firstByte, in: factory)
        sync = Timer(.sync, in: factory)
        checkpoint = Timer(.checkpoint, in: factory)
        duration = Timer(.duration, in: factory)
        responses = (1...5).map { Counter(.requests, labels: ["\($0)xx"], in: factory) }
        failures = Counter(.requests, labels: ["failed"], in: factory)
    }

    func received(_ count: ByteCount) { if count > 0 { receivedBytes.increment(by: count) } }

    /// Counts a response, with the time from the request to its head.
    func answered(_ status: Int, after time: Duration) {
        // A head has a status from 100 to 999.
        responses[min(max(status / 100, 1), responses.count) - 1].increment()
        firstByte.record(time)
    }

    func requestFailed() { failures.increment() }
    func synced(in time: Duration) { sync.record(time) }
    func checkpointed(in time: Duration) { checkpoint.record(time) }
    /// Records the duration of a run that has completed a download.
    func completed(in time: Duration) { duration.record(time) }
}

extension Counter {
    /// Creates the counter of a metric with these label values.
    package convenience init(_ metric: Metric, labels values: [String] = [], in factory: any MetricsFactory) {
        self.init(label: metric.name, dimensions: Array(zip(metric.labels, values)), factory: factory)
    }
}

extension CoreMetrics.Timer {
    /// Creates the timer of a metric with these label values.
    package convenience init(_ metric: Metric, labels values: [String] = [], in factory: any MetricsFactory) {
        self.init(label: metric.name, dimensions: Array(zip(metric.labels, values)), factory: factory)
    }

    /// Records a duration, from zero to thirty years.
    package func record(_ time: Duration) { recordNanoseconds(Int64(min(max(0, time.seconds), 1e9) * 1e9)) }
}

extension Metric {
    package static let receivedBytes = counter(
        "ferry_received_bytes_total", help: "Bytes of files that were received, also those that are received again")
    package static let requests = counter(
        "ferry_requests_total", labels: ["result"],
        help: "Requests for files by the class of the response, or failed if there was none")
    package static let firstByte = histogram(
        "ferry_first_byte_seconds", buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
        help: "Time from a request to the head of its response, with connecting and redirects")
    package static let sync = histogram(
        "ferry_sync_seconds", buckets: diskBuckets, help: "Time of a sync of a part file to the disk")
    package static let checkpoint = histogram(
        "ferry_checkpoint_seconds", buckets: diskBuckets,
        help: "Time of a checkpoint: the sync, then the claim in the journal")
    package static let duration = histogram(
        "ferry_download_seconds", buckets: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400],
        help: "Time of the run that completed a download")

    /// The buckets of operations on a disk.
    package static let diskBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30]
}
