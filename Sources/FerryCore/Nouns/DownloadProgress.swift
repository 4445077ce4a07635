/// How far a download is.
public struct DownloadProgress: Sendable, Hashable {
    /// The bytes that are held, those of earlier runs included; after a resume it starts at the offset, never at 0.
    public var completedBytes: ByteCount
    /// The size of the whole file; `nil` while the server has not said it.
    public var totalBytes: ByteCount?
    /// Bytes received per second, over a sliding window; 0 when nothing moves.
    public var bytesPerSecond: Double
    /// The time left at this speed; `nil` when the total or the speed is unknown.
    public var timeRemaining: Duration?
    /// The connections that are fetching now.
    public var connections: Int

    public init(
        completedBytes: ByteCount = 0, totalBytes: ByteCount? = nil, bytesPerSecond: Double = 0,
        timeRemaining: Duration? = nil, connections: Int = 0
    ) {
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
        self.bytesPerSecond = bytesPerSecond
        self.timeRemaining = timeRemaining
        self.connections = connections
    }

    /// The completed part of the whole, 0 to 1; `nil` while the total is unknown. An empty file is 1.
    public var fraction: Double? {
        guard let totalBytes else { return nil }
        return totalBytes == 0 ? 1 : min(1, Double(completedBytes) / Double(totalBytes))
    }
}
