package import FerryCore

/// The current state of the network.
package struct NetworkBody: Codable, Sendable, Hashable {
    /// The summary: `offline`, `online`, `metered` or `constrained`.
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
