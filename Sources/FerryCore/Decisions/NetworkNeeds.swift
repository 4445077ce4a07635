/// What a download asks of the network.
package struct NetworkNeeds: Sendable, Hashable, Codable {
    /// Its host is this machine or on a directly attached network: never offline, never metered, never constrained.
    package var isLocal: Bool
    /// May use networks where bytes cost money.
    package var allowsMetered: Bool
    /// May use networks that the user asked to spare.
    package var allowsConstrained: Bool

    package init(isLocal: Bool = false, allowsMetered: Bool = true, allowsConstrained: Bool = true) {
        self.isLocal = isLocal
        self.allowsMetered = allowsMetered
        self.allowsConstrained = allowsConstrained
    }
}

extension NetworkNeeds {
    /// How many kinds of needs differ in what they permit: those of local downloads are one.
    static let laneCount = 5

    /// Which of the ``laneCount`` kinds this is.
    var lane: Int { isLocal ? 0 : 1 + (allowsMetered ? 1 : 0) + (allowsConstrained ? 2 : 0) }

    /// The needs of a lane.
    init(lane: Int) {
        self.init(
            isLocal: lane == 0, allowsMetered: (lane - 1) & 1 == 1 || lane == 0,
            allowsConstrained: (lane - 1) & 2 == 2 || lane == 0)
    }
}

extension NetworkStatus {
    /// Whether a download with these needs may run now.
    package func permits(_ needs: NetworkNeeds) -> Bool {
        if needs.isLocal { return true }
        return isOnline && (!isMetered || needs.allowsMetered) && (!isConstrained || needs.allowsConstrained)
    }
}

extension NetworkRule {
    /// What a download with this rule asks, where the rule is silent what the manager's settings say.
    package func needs(isLocal: Bool, allowsMetered: Bool, allowsConstrained: Bool) -> NetworkNeeds {
        NetworkNeeds(
            isLocal: isLocal, allowsMetered: self.allowsMetered ?? allowsMetered,
            allowsConstrained: self.allowsConstrained ?? allowsConstrained)
    }
}
