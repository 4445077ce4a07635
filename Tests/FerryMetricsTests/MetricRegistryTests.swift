import CoreMetrics
import FerryCore
import FerryEngine
import Testing

@testable import Ferry
@testable import FerryMetrics

@Suite("MetricRegistry", .timeLimit(.minutes(5))) struct MetricRegistryTests {
    private func series(_ metric: Metric, _ registry: MetricRegistry) -> [MetricFamily.Series] {
        registry.families.first { $0.metric == metric }?.series ?? []
    }

    @Test("MetricRegistry: counters with the same labels are one, and one that is made again goes on")
    func counters() {
        let registry = MetricRegistry()
        for result in ["2xx", "failed", "2xx"] {
            Counter(
                label: Metric.requests.name, dimensions: [("result", result)], factory: registry
            ).increment(by: 2)
        }
        #expect(
            series(.requests, registry) == [
                .init(["2xx"], .number(4)), .init(["failed"], .number(2)),
            ])
    }

    @Test("MetricRegistry: times are put into the buckets of their metric")
    func times() throws {
        let registry = MetricRegistry()
        let timer = Timer(label: Metric.duration.name, factory: registry)
        timer.recordNanoseconds(90_000_000)
        timer.recordNanoseconds(-5)
        timer.recordNanoseconds(200_000_000_000_000)
        let found = try #require(series(.duration, registry).first)
        guard case .histogram(let histogram) = found.value else {
            Issue.record("no histogram: \(found)")
            return
        }
        #expect(histogram.bounds == Metric.duration.buckets)
        #expect(histogram.counts == [2] + Array(repeating: 0, count: histogram.bounds.count - 1) + [1])
        #expect(histogram.sum == 200_000.09)
    }

    @Test("MetricRegistry: a metric of others, of another kind or with other labels is not kept")
    func foreign() {
        let registry = MetricRegistry()
        Counter(label: "http_requests_total", factory: registry).increment()
        Counter(label: Metric.slots.name, factory: registry).increment()
        Counter(label: Metric.duration.name, factory: registry).increment()
        Counter(label: Metric.requests.name, factory: registry).increment()
        Counter(label: Metric.requests.name, dimensions: [("host", "a")], factory: registry).increment()
        Timer(label: Metric.receivedBytes.name, factory: registry).recordNanoseconds(1)
        Recorder(label: Metric.duration.name, factory: registry).record(1)
        Meter(label: Metric.slots.name, factory: registry).set(1)
        #expect(registry.families.allSatisfy { $0.series.isEmpty })
        #expect(registry.families.map(\.metric) == Metric.ofDownloads)
    }

    @Test("MetricRegistry: a program adds metrics of its own, which come after those of downloads")
    func own() {
        let own = Metric.counter("example_rows_total", help: "Rows")
        let registry = MetricRegistry(Metric.ofDownloads + [own])
        #expect(series(own, registry).isEmpty)
        Counter(label: own.name, factory: registry).increment()
        #expect(registry.families.map(\.metric) == Metric.ofDownloads + [own])
        #expect(series(own, registry) == [.init([], .number(1))])
    }

    @Test("MetricRegistry: the number of series is bounded, and those that are there go on")
    func bound() {
        let registry = MetricRegistry()
        for number in 0..<3 * MetricRegistry.mostSeries {
            Counter(label: Metric.interrupted.name, dimensions: [("reason", "\(number)")], factory: registry)
                .increment()
        }
        Counter(label: Metric.interrupted.name, dimensions: [("reason", "0")], factory: registry).increment()
        let all = series(.interrupted, registry)
        #expect(all.count == MetricRegistry.mostSeries)
        #expect(all.contains(.init(["0"], .number(2))))
    }
}
