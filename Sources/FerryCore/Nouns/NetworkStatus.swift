/// What the network is like now.
public struct NetworkStatus: Sendable, Hashable, Codable {
    /// One word for it, for people.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// There is no way to other networks.
        case offline
        /// Nothing speaks against using it.
        case online
        /// Bytes cost money.
        case metered
        /// The user asked to spare it (Low Data Mode).
        case constrained
    }

    /// There is a way to other networks.
    public var isOnline: Bool
    /// Bytes cost money (`isExpensive` of NWPath). Default false.
    public var isMetered: Bool
    /// The user asked to spare it (`isConstrained` of NWPath: Low Data Mode). Default false.
    public var isConstrained: Bool

    public init(isOnline: Bool, isMetered: Bool = false, isConstrained: Bool = false) {
        self.isOnline = isOnline
        self.isMetered = isMetered
        self.isConstrained = isConstrained
    }

    /// Online, neither metered nor constrained.
    public static let online = NetworkStatus(isOnline: true)
    /// No way to other networks.
    public static let offline = NetworkStatus(isOnline: false)

    /// The summary; of a network that is both metered and constrained, `metered`.
    public var kind: Kind {
        if !isOnline { return .offline }
        if isMetered { return .metered }
        return isConstrained ? .constrained : .online
    }
}
