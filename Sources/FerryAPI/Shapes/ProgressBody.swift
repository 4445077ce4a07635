package import FerryCore

/// The members of ``FerryCore/DownloadProgress``; null where unknown.
package struct ProgressBody: Codable, Sendable, Hashable {
    package var progress: DownloadProgress

    package init(_ progress: DownloadProgress) { self.progress = progress }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case completedBytes, totalBytes, bytesPerSecond, timeRemaining, connections
    }

    package init(from decoder: any Decoder) throws { progress = try DownloadProgress(from: decoder) }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try encode(into: &container)
    }

    func encode(into container: inout KeyedEncodingContainer<CodingKeys>) throws {
        try container.encode(progress.completedBytes, forKey: .completedBytes)
        try container.encode(progress.totalBytes, forKey: .totalBytes)
        let speed = progress.bytesPerSecond
        try container.encode(speed.isFinite ? speed.rounded() : 0, forKey: .bytesPerSecond)
        try container.encode(progress.timeRemaining.map(APISeconds.number), forKey: .timeRemaining)
        try container.encode(progress.connections, forKey: .connections)
    }
}
