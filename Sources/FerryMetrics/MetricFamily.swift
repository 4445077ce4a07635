public import FerryCore

/// The values of one metric, one for each combination of its labels.
public struct MetricFamily: Sendable, Hashable {
    /// The value of one series.
    public enum Value: Sendable, Hashable {
        /// The value of a counter or a gauge.
        case number(Double)
        /// The times of a histogram.
        case histogram(MetricHistogram)
    }

    /// One combination of the labels, and its value.
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

    /// A family of these series.
    public init(_ metric: Metric, _ series: [Series]) {
        self.metric = metric
        self.series = series
    }

    /// A family of one number without labels.
    public init(_ metric: Metric, _ number: Double) { self.init(metric, [Series([], .number(number))]) }

    /// A family of numbers by the value of one label.
    public init(_ metric: Metric, _ numbers: [(label: String, number: Double)]) {
        self.init(metric, numbers.map { Series([$0.label], .number($0.number)) })
    }
}

extension MetricFamily {
    /// The version of Ferry.
    public static var info: MetricFamily { MetricFamily(.info, [(label: FerryVersion.text, number: 1)]) }
}

extension Metric {
    static let info = gauge("ferry_info", labels: ["version"], help: "1, with the version as label")
}

/// How often something took how long.
public struct MetricHistogram: Sendable, Hashable {
    /// The upper bounds of the buckets in seconds, ascending, without infinity.
    public let bounds: [Double]
    /// The number of values in each bucket alone; the last is that of infinity.
    public private(set) var counts: [UInt64]
    /// The sum of all values in seconds.
    public private(set) var sum = 0.0

    /// A histogram without values.
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
