/// The network requirements of a download.
package struct NetworkNeeds: Sendable, Hashable, Codable {
    /// Whether the host is this machine or on a directly attached network, so that no network restriction applies.
    package var isLocal: Bool
    /// Whether metered networks are permitted.
    package var allowsMetered: Bool
    /// Whether constrained networks (Low Data Mode) are permitted.
    package var allowsConstrained: Bool

    package init(isLocal: Bool = false, allowsMetered: Bool = true, allowsConstrained: Bool = true) {
        self.isLocal = isLocal
        self.allowsMetered = allowsMetered
        self.allowsConstrained = allowsConstrained
    }
}

extension NetworkNeeds {
    /// The number of distinct combinations of needs; all local downloads share one of them.
    package static let laneCount = 5

    /// The index of these needs, below ``laneCount``.
    package var lane: Int { isLocal ? 0 : 1 + (allowsMetered ? 1 : 0) + (allowsConstrained ? 2 : 0) }

    /// Creates the needs from a lane.
    package init(lane: Int) {
        self.init(
            isLocal: lane == 0, allowsMetered: (lane - 1) & 1 == 1 || lane == 0,
            allowsConstrained: (lane - 1) & 2 == 2 || lane == 0)
    }
}

extension NetworkStatus {
    /// Whether a download with these needs may run now.
    package func permits(_ needs: NetworkNeeds) -> Bool { obstacle(to: needs) == nil }

    /// The reason why a download with these needs may not run now; `nil` if it may.
    package func obstacle(to needs: NetworkNeeds) -> ErrorPhrase.Key? {
        if needs.isLocal { return nil }
        if !isOnline { return .noNetworkAllowed }
        if isMetered, !needs.allowsMetered { return .meteredNotAllowed }
        return isConstrained && !needs.allowsConstrained ? .constrainedNotAllowed : nil
    }
}

extension NetworkRule {
    /// Resolves the rule to needs; the manager's settings apply where the rule is `nil`.
    package func needs(isLocal: Bool, allowsMetered: Bool, allowsConstrained: Bool) -> NetworkNeeds {
        NetworkNeeds(
            isLocal: isLocal, allowsMetered: self.allowsMetered ?? allowsMetered,
            allowsConstrained: self.allowsConstrained ?? allowsConstrained)
    }
}
