/// The user's overrides of the detected network properties; `nil` means detected.
package struct NetworkSettings: Sendable, Hashable {
    /// Whether the network is metered.
    package var isMetered: Bool?
    /// Whether the network is constrained.
    package var isConstrained: Bool?

    package init(isMetered: Bool? = nil, isConstrained: Bool? = nil) {
        self.isMetered = isMetered
        self.isConstrained = isConstrained
    }
}
