public import FerryCore

/// A program's metrics, as they are when a monitoring program asks for them.
public protocol MetricsSource: Sendable {
    /// Returns all families. Throws `catalogue` if the list of downloads cannot be read.
    func families() async throws(DownloadError) -> [MetricFamily]
}
