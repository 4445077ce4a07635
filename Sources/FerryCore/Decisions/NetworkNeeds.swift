/// The network requirements of a download.
package struct NetworkNeeds: Sendable, Hashable, Codable {
    /// The host is this machine or on a directly attached network, so no network restriction applies.
    package var isLocal: Bool
    /// Permits metered networks.
    package var allowsMetered: Bool
    /// Permits constrained networks (Low Data Mode).
    package var allowsConstrained: Bool

    package init(isLocal: Bool = false, allowsMetered: Bool = true, allowsConstrained: Bool = true) {
        self.isLocal = isLocal
        self.allowsMetered = allowsMetered
        self.allowsConstrained = allowsConstrained
    }
}

extension NetworkNeeds {
    /// The number of distinguishable needs: all local downloads count as one.
    package static let laneCount = 5

    /// The index of these needs, below ``laneCount``.
    package var lane: Int { isLocal ? 0 : 1 + (allowsMetered ? 1 : 0) + (allowsConstrained ? 2 : 0) }

    /// Creates the needs of a lane.
    package init(lane: Int) {
        self.init(
            isLocal: lane == 0, allowsMetered: (lane - 1) & 1 == 1 || lane == 0,
            allowsConstrained: (lane - 1) & 2 == 2 || lane == 0)
    }
}

extension NetworkStatus {
    /// Whether a download with these needs may run now.
    package func permits(_ needs: NetworkNeeds) -> Bool { obstacle(to: needs) == nil }

    /// Why a download with these needs may not run now; `nil` if it may.
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
