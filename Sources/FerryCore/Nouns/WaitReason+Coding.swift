extension WaitReason {
    /// The reason without its time; the raw value is its name in every format.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case slot, network, retry, diskSpace, freshLink, credentials, notBefore
    }

    package var kind: Kind {
        switch self {
        case .slot: .slot
        case .network: .network
        case .retry: .retry
        case .diskSpace: .diskSpace
        case .freshLink: .freshLink
        case .credentials: .credentials
        case .notBefore: .notBefore
        }
    }
}

/// Coded as `{"waitReason": …}`; `retry` and `notBefore` have `until`.
extension WaitReason: Codable {
    private enum CodingKeys: String, CodingKey { case waitReason, until }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch try container.decodeKind(Kind.self, of: "wait reason", forKey: .waitReason) {
        case .slot: self = .slot
        case .network: self = .network
        case .retry: self = .retry(at: try container.decodeTime(forKey: .until))
        case .diskSpace: self = .diskSpace
        case .freshLink: self = .freshLink
        case .credentials: self = .credentials
        case .notBefore: self = .notBefore(try container.decodeTime(forKey: .until))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind.rawValue, forKey: .waitReason)
        switch self {
        case .retry(let date), .notBefore(let date): try container.encode(time: date, forKey: .until)
        case .slot, .network, .diskSpace, .freshLink, .credentials: break
        }
    }
}
