/// A metric of a program that uses Ferry, named by Prometheus conventions: `_total` for counters, seconds and bytes as
/// base units.
///
/// `Metric.ofDownloads` lists the metrics that a manager reports to its metrics system
/// (``DownloadManager/Configuration/ServerOptions/metrics``). Use it for a backend that needs a help text or bucket
/// bounds in addition to the name.
public struct Metric: Sendable, Hashable {
    /// The type of a metric's values.
    public enum Kind: String, Sendable, Hashable {
        /// A number that only increases, starting at zero.
        case counter
        /// A number that increases and decreases.
        case gauge
        /// Times in seconds, counted in buckets.
        case histogram
    }

    /// The name, such as `ferry_requests_total`.
    public let name: String
    /// The type of the metric's values.
    public let kind: Kind
    /// The names of the labels, in the order in which their values are given.
    public let labels: [String]
    /// The upper bounds of the buckets of a histogram in seconds, ascending, without infinity; empty for other kinds.
    public let buckets: [Double]
    /// The help text: one sentence, without a full stop.
    public let help: String

    private init(_ name: String, _ kind: Kind, _ labels: [String], _ help: String, _ buckets: [Double] = []) {
        (self.name, self.kind, self.labels, self.buckets, self.help) = (name, kind, labels, buckets, help)
    }

    /// A counter; its name ends with `_total`.
    public static func counter(_ name: String, labels: [String] = [], help: String) -> Metric {
        Metric(name, .counter, labels, help)
    }

    /// A gauge.
    public static func gauge(_ name: String, labels: [String] = [], help: String) -> Metric {
        Metric(name, .gauge, labels, help)
    }

    /// A histogram of times; its name ends with `_seconds`.
    ///
    /// - Parameter buckets: The upper bounds of the buckets in seconds, ascending, without infinity.
    public static func histogram(
        _ name: String, labels: [String] = [], buckets: [Double], help: String
    ) -> Metric { Metric(name, .histogram, labels, help, buckets) }
}
