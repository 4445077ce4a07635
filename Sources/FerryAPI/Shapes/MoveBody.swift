/// The body of `POST /downloads/ID/move`: a target among downloads of equal priority.
package enum MoveBody: Sendable, Hashable {
    case first
    case last
    case before(String)
    case after(String)
    /// This index among all of that priority, from 0; larger indices mean the last.
    case index(Int)
}

/// Coded as `{"to": "first"}`, `"last"`, `{"before": ID}`, `{"after": ID}` or `{"index": N}`.
extension MoveBody: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable { case to }
    private enum Place: String, CodingKey, CaseIterable { case before, after, index }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.members(CodingKeys.self)
        switch try? members.decode(String.self, forKey: .to) {
        case "first": self = .first
        case "last": self = .last
        case _?: throw Self.unknown(decoder)
        case nil:
            let place = try members.nestedContainer(keyedBy: Place.self, forKey: .to)
            if let id = try place.decodeIfPresent(String.self, forKey: .before) {
                self = .before(id)
            } else if let id = try place.decodeIfPresent(String.self, forKey: .after) {
                self = .after(id)
            } else if let index = try place.decodeIfPresent(Int.self, forKey: .index), index >= 0 {
                self = .index(index)
            } else {
                throw Self.unknown(decoder)
            }
        }
    }

    private static func unknown(_ decoder: any Decoder) -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: decoder.codingPath + [CodingKeys.to],
                debugDescription: #"it must be "first", "last", {"before": ID}, {"after": ID} or {"index": N}"#))
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .first: try members.encode("first", forKey: .to)
        case .last: try members.encode("last", forKey: .to)
        case .before(let id): try members.encode(["before": id], forKey: .to)
        case .after(let id): try members.encode(["after": id], forKey: .to)
        case .index(let index): try members.encode(["index": index], forKey: .to)
        }
    }
}
