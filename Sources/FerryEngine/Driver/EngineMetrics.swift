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
