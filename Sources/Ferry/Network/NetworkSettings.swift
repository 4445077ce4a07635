/// What the user says about the network, which counts before anything that is found out; `nil` finds out.
package struct NetworkSettings: Sendable, Hashable {
    /// Bytes cost money, or do not.
    package var isMetered: Bool?
    /// The network is to be spared, or is not.
    package var isConstrained: Bool?

    package init(isMetered: Bool? = nil, isConstrained: Bool? = nil) {
        self.isMetered = isMetered
        self.isConstrained = isConstrained
    }
}
