/// The progress of a download.
public struct DownloadProgress: Sendable, Hashable {
    /// Bytes downloaded, including those of earlier runs: a resumed download starts at its offset, not at 0.
    public var completedBytes: ByteCount
    /// The size of the whole file in bytes; `nil` until the server has declared it.
    public var totalBytes: ByteCount?
    /// Bytes received per second over a sliding window; 0 when nothing is received.
    public var bytesPerSecond: Double
    /// The estimated time left at this speed; `nil` when the total or the speed is unknown.
    public var timeRemaining: Duration?
    /// The number of connections that are fetching.
    public var connections: Int

    package init(
        completedBytes: ByteCount = 0, totalBytes: ByteCount? = nil, bytesPerSecond: Double = 0,
        timeRemaining: Duration? = nil, connections: Int = 0
    ) {
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
        self.bytesPerSecond = bytesPerSecond
        self.timeRemaining = timeRemaining
        self.connections = connections
    }

    /// The completed fraction, 0 to 1; `nil` while the total is unknown, 1 for an empty file.
    public var fraction: Double? {
        guard let totalBytes else { return nil }
        return totalBytes == 0 ? 1 : min(1, Double(completedBytes) / Double(totalBytes))
    }
}
