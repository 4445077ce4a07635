package import FerryCore

/// The values of one metric, one for each combination of its labels.
package struct MetricFamily: Sendable, Hashable {
    package enum Value: Sendable, Hashable {
        case number(Double)
        case histogram(MetricHistogram)
    }

    package struct Series: Sendable, Hashable {
        /// The values of the labels, in the order of ``FerryCore/Metric/labels``.
        package var labels: [String]
        package var value: Value

        package init(_ labels: [String], _ value: Value) {
            self.labels = labels
            self.value = value
        }
    }

    package var metric: Metric
    package var series: [Series]

    package init(_ metric: Metric, _ series: [Series]) {
        self.metric = metric
        self.series = series
    }

    /// A family of one number without labels.
    package init(_ metric: Metric, _ number: Double) { self.init(metric, [Series([], .number(number))]) }

    /// A family of numbers by the value of one label.
    package init(_ metric: Metric, _ numbers: [(label: String, number: Double)]) {
        self.init(metric, numbers.map { Series([$0.label], .number($0.number)) })
    }
}

/// How often something took how long.
package struct MetricHistogram: Sendable, Hashable {
    /// The upper bounds of the buckets in seconds, ascending, without infinity.
    package let bounds: [Double]
    /// The number of values in each bucket alone; the last is that of infinity.
    package private(set) var counts: [UInt64]
    package private(set) var sum = 0.0

    package init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// Adds a value in seconds.
    package mutating func add(_ seconds: Double) {
        counts[bounds.firstIndex { seconds <= $0 } ?? bounds.count] += 1
        sum += seconds
    }
}
