public import FerryCore

/// The source of a program's metrics, which are read when a monitoring program requests them.
public protocol MetricsSource: Sendable {
    /// Returns all families. Throws `catalogue` if the list of downloads cannot be read.
    func families() async throws(DownloadError) -> [MetricFamily]
}
