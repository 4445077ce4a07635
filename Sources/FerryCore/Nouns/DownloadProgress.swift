/// The progress of a download.
public struct DownloadProgress: Sendable, Hashable {
    /// Bytes downloaded, including those of earlier runs: a resumed download starts at its offset, not at 0.
    public var completedBytes: ByteCount
    /// The size of the whole file in bytes; `nil` until the server has declared it.
    public var totalBytes: ByteCount?
    /// Bytes received per second over a sliding window; 0 when nothing is received.
    public var bytesPerSecond: Double
    /// The estimated time left at this speed; `nil` when the size or the speed is unknown.
    public var timeRemaining: Duration?
    /// The number of connections that are fetching data.
    public var connections: Int
    /// The cause that limits the speed; `nil` while nothing is received or the cause is unknown.
    public var bottleneck: Bottleneck?

    /// Creates the progress of a download, for previews and tests.
    public init(
        completedBytes: ByteCount = 0, totalBytes: ByteCount? = nil, bytesPerSecond: Double = 0,
        timeRemaining: Duration? = nil, connections: Int = 0, bottleneck: Bottleneck? = nil
    ) {
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
        self.bytesPerSecond = bytesPerSecond
        self.timeRemaining = timeRemaining
        self.connections = connections
        self.bottleneck = bottleneck
    }

    /// The completed fraction, 0 to 1; `nil` while the size is unknown, 1 for an empty file.
    public var fraction: Double? {
        guard let totalBytes else { return nil }
        return totalBytes == 0 ? 1 : min(1, Double(completedBytes) / Double(totalBytes))
    }
}

/// Encoded as `{"completedBytes", "totalBytes"?, "bytesPerSecond", "timeRemaining"?, "connections", "bottleneck"?}`;
/// `timeRemaining` in seconds. A speed that is not finite is written as 0.
extension DownloadProgress: Codable {
    private enum CodingKeys: String, CodingKey {
        case completedBytes, totalBytes, bytesPerSecond, timeRemaining, connections, bottleneck
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let knowsTime = try container.contains(.timeRemaining) && !container.decodeNil(forKey: .timeRemaining)
        self.init(
            completedBytes: try container.decodeBytes(forKey: .completedBytes),
            totalBytes: try container.decodeBytesIfPresent(forKey: .totalBytes),
            bytesPerSecond: try container.decode(Double.self, forKey: .bytesPerSecond),
            timeRemaining: knowsTime ? try container.decodeSeconds(forKey: .timeRemaining) : nil,
            connections: try container.decode(Int.self, forKey: .connections),
            // A newer daemon may send a cause that is unknown here.
            bottleneck: (try? container.decodeIfPresent(Bottleneck.self, forKey: .bottleneck)) ?? nil)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(completedBytes, forKey: .completedBytes)
        try container.encodeIfPresent(totalBytes, forKey: .totalBytes)
        try container.encode(bytesPerSecond.isFinite ? bytesPerSecond : 0, forKey: .bytesPerSecond)
        if let timeRemaining { try container.encode(seconds: timeRemaining, forKey: .timeRemaining) }
        try container.encode(connections, forKey: .connections)
        try container.encodeIfPresent(bottleneck, forKey: .bottleneck)
    }
}
