/// Coded as `{"completedBytes", "totalBytes"?, "bytesPerSecond", "timeRemaining"?, "connections"}`; `timeRemaining` in
/// seconds. A speed that is not finite is written as 0.
extension DownloadProgress: Codable {
    private enum CodingKeys: String, CodingKey {
        case completedBytes, totalBytes, bytesPerSecond, timeRemaining, connections
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let knowsTime = try container.contains(.timeRemaining) && !container.decodeNil(forKey: .timeRemaining)
        self.init(
            completedBytes: try container.decodeBytes(forKey: .completedBytes),
            totalBytes: try container.decodeBytesIfPresent(forKey: .totalBytes),
            bytesPerSecond: try container.decode(Double.self, forKey: .bytesPerSecond),
            timeRemaining: knowsTime ? try container.decodeSeconds(forKey: .timeRemaining) : nil,
            connections: try container.decode(Int.self, forKey: .connections))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(completedBytes, forKey: .completedBytes)
        try container.encodeIfPresent(totalBytes, forKey: .totalBytes)
        try container.encode(bytesPerSecond.isFinite ? bytesPerSecond : 0, forKey: .bytesPerSecond)
        if let timeRemaining { try container.encode(seconds: timeRemaining, forKey: .timeRemaining) }
        try container.encode(connections, forKey: .connections)
    }
}
