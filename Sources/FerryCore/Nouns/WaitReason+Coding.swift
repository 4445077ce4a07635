/// Coded as `{"kind": …}`; `retry` and `notBefore` have `at`, in seconds since 1970.
extension WaitReason: Codable {
    private enum CodingKeys: String, CodingKey { case kind, at }
    private enum Kind: String { case slot, network, retry, diskSpace, freshLink, credentials, notBefore }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch try container.decodeKind(Kind.self, of: "wait reason", forKey: .kind) {
        case .slot: self = .slot
        case .network: self = .network
        case .retry: self = .retry(at: try container.decodeTime(forKey: .at))
        case .diskSpace: self = .diskSpace
        case .freshLink: self = .freshLink
        case .credentials: self = .credentials
        case .notBefore: self = .notBefore(try container.decodeTime(forKey: .at))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        func write(_ kind: Kind) throws { try container.encode(kind.rawValue, forKey: .kind) }
        switch self {
        case .slot: try write(.slot)
        case .network: try write(.network)
        case .retry(let date):
            try write(.retry)
            try container.encode(time: date, forKey: .at)
        case .diskSpace: try write(.diskSpace)
        case .freshLink: try write(.freshLink)
        case .credentials: try write(.credentials)
        case .notBefore(let date):
            try write(.notBefore)
            try container.encode(time: date, forKey: .at)
        }
    }
}
