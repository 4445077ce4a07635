package import FerryCore

/// What the network is like now.
package struct NetworkBody: Codable, Sendable, Hashable {
    /// `offline`, `online`, `metered` or `constrained`: one word for it.
    package var state: String
    package var isOnline: Bool
    package var isMetered: Bool
    package var isConstrained: Bool

    package init(_ status: NetworkStatus) {
        state = status.kind.rawValue
        isOnline = status.isOnline
        isMetered = status.isMetered
        isConstrained = status.isConstrained
    }

    package var status: NetworkStatus {
        NetworkStatus(isOnline: isOnline, isMetered: isMetered, isConstrained: isConstrained)
    }
}
