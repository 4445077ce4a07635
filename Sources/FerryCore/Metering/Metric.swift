/// A metric of a program that uses Ferry, named by Prometheus conventions: `_total` for counters, seconds and bytes as
/// base units.
///
/// ``ofDownloads`` lists the metrics that a manager reports to its metrics system
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

extension Metric {
    /// The counters and histograms that a manager reports to its metrics system. `docs/metrics.md` lists the values of
    /// their labels.
    public static let ofDownloads: [Metric] = [
        .receivedBytes, .requests, .firstByte, .sync, .checkpoint, .added, .ended, .interrupted, .duration, .catalogue,
    ]

    // MARK: The transfer

    package static let receivedBytes = counter(
        "ferry_received_bytes_total", help: "Bytes of files that were received, also those that are received again")
    package static let requests = counter(
        "ferry_requests_total", labels: ["result"],
        help: "Requests for files by the class of the response, or failed if there was none")
    package static let firstByte = histogram(
        "ferry_first_byte_seconds", buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
        help: "Time from a request to the head of its response, with connecting and redirects")
    package static let sync = histogram(
        "ferry_sync_seconds", buckets: ofDisk, help: "Time of a sync of a part file to the disk")
    package static let checkpoint = histogram(
        "ferry_checkpoint_seconds", buckets: ofDisk,
        help: "Time of a checkpoint: the sync, then the claim in the journal")

    // MARK: The list

    package static let added = counter("ferry_downloads_added_total", help: "Downloads that were added to the list")
    package static let ended = counter(
        "ferry_downloads_ended_total", labels: ["result", "reason"],
        help: "Downloads that ended, by result and the code of the error")
    package static let interrupted = counter(
        "ferry_downloads_interrupted_total", labels: ["reason"],
        help: "Retries, restarts from zero, and waits for a network, the disk or the user")
    package static let duration = histogram(
        "ferry_download_seconds", buckets: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400],
        help: "Time of the run that completed a download")
    package static let catalogue = histogram(
        "ferry_catalogue_seconds", labels: ["operation"], buckets: ofDisk,
        help: "Time of an operation of the list's database, with waiting for its turn")

    private static let ofDisk = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30]
}
