public import FerryCore

/// The values of one metric, with one series for each combination of its labels.
public struct MetricFamily: Sendable, Hashable {
    /// The value of one series.
    public enum Value: Sendable, Hashable {
        /// The value of a counter or a gauge.
        case number(Double)
        /// The durations in a histogram.
        case histogram(MetricHistogram)
    }

    /// One combination of the label values, and its value.
    public struct Series: Sendable, Hashable {
        /// The values of the labels, in the order of `Metric.labels`.
        public var labels: [String]
        public var value: Value

        public init(_ labels: [String], _ value: Value) {
            self.labels = labels
            self.value = value
        }
    }

    /// The name, kind and labels.
    public var metric: Metric
    /// The values; no two have the same labels.
    public var series: [Series]

    /// Creates a family with these series.
    public init(_ metric: Metric, _ series: [Series]) {
        self.metric = metric
        self.series = series
    }

    /// Creates a family with one number and no labels.
    public init(_ metric: Metric, _ number: Double) { self.init(metric, [Series([], .number(number))]) }

    /// Creates a family with a number for each value of its only label.
    public init(_ metric: Metric, _ numbers: [(label: String, number: Double)]) {
        self.init(metric, numbers.map { Series([$0.label], .number($0.number)) })
    }
}

extension MetricFamily {
    /// The family that reports the version of Ferry.
    public static var info: MetricFamily { MetricFamily(.info, [(label: FerryVersion.text, number: 1)]) }
}

extension Metric {
    static let info = gauge("ferry_info", labels: ["version"], help: "1, with the version as label")
}

/// A histogram of durations.
public struct MetricHistogram: Sendable, Hashable {
    /// The upper bounds of the buckets in seconds, ascending, without infinity.
    public let bounds: [Double]
    /// The number of values in each bucket, not cumulative; the last bucket extends to infinity.
    public private(set) var counts: [UInt64]
    /// The sum of all values in seconds.
    public private(set) var sum = 0.0

    /// Creates a histogram without values.
    ///
    /// - Parameter bounds: The upper bounds of the buckets in seconds, ascending, without infinity.
    public init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// Adds a value in seconds.
    public mutating func add(_ seconds: Double) {
        counts[bounds.firstIndex { seconds <= $0 } ?? bounds.count] += 1
        sum += seconds
    }
}
