/// A position in the list, among the downloads of the same priority.
public enum ListPlacement: Sendable, Hashable {
    /// Before all others.
    case first
    /// After all others.
    case last
    /// Directly before another download.
    case before(DownloadID)
    /// Directly after another download.
    case after(DownloadID)
    /// At this index, starting at 0; an index beyond the end means the last position.
    case index(Int)
}

/// Encoded as `{"to": …}` with `"first"`, `"last"`, `{"before": ID}`, `{"after": ID}` or `{"index": N}`.
extension ListPlacement: Codable {
    package enum CodingKeys: String, CodingKey, CaseIterable { case to }
    private enum Place: String, CodingKey { case before, after, index }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let word = try? container.decode(String.self, forKey: .to) {
            guard word == "first" || word == "last" else { throw Self.unknown(decoder) }
            self = word == "first" ? .first : .last
            return
        }
        guard let place = try? container.nestedContainer(keyedBy: Place.self, forKey: .to) else {
            throw Self.unknown(decoder)
        }
        if let id = try place.decodeIfPresent(DownloadID.self, forKey: .before) {
            self = .before(id)
        } else if let id = try place.decodeIfPresent(DownloadID.self, forKey: .after) {
            self = .after(id)
        } else if place.contains(.index), case let index = try place.decodeNamed(Int.self, forKey: .index), index >= 0 {
            self = .index(index)
        } else {
            throw Self.unknown(decoder)
        }
    }

    private static func unknown(_ decoder: any Decoder) -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: decoder.codingPath + [CodingKeys.to],
                debugDescription: #"it must be "first", "last", {"before": ID}, {"after": ID} or {"index": N}"#))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .first: try container.encode("first", forKey: .to)
        case .last: try container.encode("last", forKey: .to)
        case .before(let id): try container.encode(["before": id], forKey: .to)
        case .after(let id): try container.encode(["after": id], forKey: .to)
        case .index(let index): try container.encode(["index": index], forKey: .to)
        }
    }
}
