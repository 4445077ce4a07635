public import CoreMetrics
public import Ferry
public import FerryCore
import Synchronization

/// Stores the values that Ferry reports to its metrics system, for a program that serves them.
///
/// It records only the metrics that it was created with, and at most ``mostSeries`` series. A series lives as long as the
/// registry, so that no counter decreases.
public final class MetricRegistry: MetricsFactory, Sendable {
    /// The maximum number of series, over all metrics.
    public static let mostSeries = 1000

    private struct Key: Hashable {
        var metric: Metric
        var labels: [String]
    }
    private struct State {
        var counters: [Key: CounterCell] = [:]
        var histograms: [Key: HistogramCell] = [:]
        var count: Int { counters.count + histograms.count }
    }
    private let state = Mutex(State())
    private let metrics: [Metric]
    private let named: [String: Metric]

    /// - Parameter metrics: Counters and histograms with different names; by default those of a manager.
    public init(_ metrics: [Metric] = Metric.ofDownloads) {
        self.metrics = metrics
        named = Dictionary(metrics.map { ($0.name, $0) }) { first, _ in first }
    }

    /// The families of all metrics, in the order in which the metrics were passed; a metric without events has no series.
    public var families: [MetricFamily] {
        let (counters, histograms) = state.withLock { ($0.counters, $0.histograms) }
        var series: [Metric: [MetricFamily.Series]] = [:]
        for (key, cell) in counters { series[key.metric, default: []].append(.init(key.labels, .number(cell.number))) }
        for (key, cell) in histograms {
            series[key.metric, default: []].append(.init(key.labels, .histogram(cell.histogram)))
        }
        return metrics.map { metric in
            MetricFamily(
                metric, (series[metric] ?? []).sorted { $0.labels.lexicographicallyPrecedes($1.labels) })
        }
    }

    private func key(_ label: String, _ dimensions: [(String, String)], _ kind: Metric.Kind) -> Key? {
        guard let metric = named[label], metric.kind == kind,
            dimensions.map(\.0) == metric.labels
        else { return nil }
        return Key(metric: metric, labels: dimensions.map(\.1))
    }

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        guard let key = key(label, dimensions, .counter) else { return NOOPMetricsHandler.instance }
        return state.withLock { state in
            if let cell = state.counters[key] { return cell }
            guard state.count < Self.mostSeries else { return NOOPMetricsHandler.instance }
            let cell = CounterCell()
            state.counters[key] = cell
            return cell
        }
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        guard let key = key(label, dimensions, .histogram) else { return NOOPMetricsHandler.instance }
        return state.withLock { state in
            if let cell = state.histograms[key] { return cell }
            guard state.count < Self.mostSeries else { return NOOPMetricsHandler.instance }
            let cell = HistogramCell(bounds: key.metric.buckets)
            state.histograms[key] = cell
            return cell
        }
    }

    /// Records nothing, because no metric of Ferry is a recorder.
    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler { NOOPMetricsHandler.instance }

    public func destroyCounter(_ handler: any CounterHandler) {}
    public func destroyTimer(_ handler: any TimerHandler) {}
    public func destroyRecorder(_ handler: any RecorderHandler) {}
}

/// One series of a counter.
private final class CounterCell: CounterHandler, Sendable {
    private let count = Atomic<Int64>(0)

    var number: Double { Double(count.load(ordering: .relaxed)) }

    func increment(by amount: Int64) { count.wrappingAdd(max(0, amount), ordering: .relaxed) }
    func reset() { count.store(0, ordering: .relaxed) }
}

/// One series of a histogram.
private final class HistogramCell: TimerHandler, Sendable {
    private let state: Mutex<MetricHistogram>

    init(bounds: [Double]) { state = Mutex(MetricHistogram(bounds: bounds)) }

    var histogram: MetricHistogram { state.withLock { $0 } }

    func recordNanoseconds(_ duration: Int64) { state.withLock { $0.add(Double(max(0, duration)) / 1e9) } }
}
