/// The current state of the network.
public struct NetworkStatus: Sendable, Hashable, Codable {
    /// A summary for display.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// No route to other networks.
        case offline
        /// Neither metered nor constrained.
        case online
        /// A metered connection.
        case metered
        /// Low Data Mode.
        case constrained
    }

    /// Whether there is a route to other networks.
    public var isOnline: Bool
    /// Whether the network is metered (`isExpensive` of NWPath). Default false.
    public var isMetered: Bool
    /// Whether the user wants to save data (`isConstrained` of NWPath: Low Data Mode). Default false.
    public var isConstrained: Bool

    package init(isOnline: Bool, isMetered: Bool = false, isConstrained: Bool = false) {
        self.isOnline = isOnline
        self.isMetered = isMetered
        self.isConstrained = isConstrained
    }

    /// Online, neither metered nor constrained.
    package static let online = NetworkStatus(isOnline: true)
    /// No route to other networks.
    package static let offline = NetworkStatus(isOnline: false)

    /// The summary; `metered` for a network that is both metered and constrained.
    public var kind: Kind {
        if !isOnline { return .offline }
        if isMetered { return .metered }
        return isConstrained ? .constrained : .online
    }
}
