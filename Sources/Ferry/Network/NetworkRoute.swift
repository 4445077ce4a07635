/// A route to a range of addresses.
package struct NetworkRoute: Sendable, Hashable {
    package var destination: NetworkPrefix
    /// The name of the outgoing interface.
    package var interface: String
    /// The gateway; `nil` if the destination is on-link.
    package var gateway: NetworkAddress?
    /// The routing table; 254, the main table, takes precedence.
    package var table: Int
    /// The metric; the lowest one is chosen.
    package var metric: Int

    package init(
        _ destination: NetworkPrefix, interface: String, gateway: NetworkAddress? = nil, table: Int = mainTable,
        metric: Int = 0
    ) {
        self.destination = destination
        self.interface = interface
        self.gateway = gateway
        self.table = table
        self.metric = metric
    }

    /// Linux's main routing table.
    package static let mainTable = 254

    /// Whether the route is a default route, or one of the halves (for IPv6 also 2000::/3) that override a default
    /// route without replacing it.
    package var isDefault: Bool { destination.length <= (destination.address.isIPv6 ? 3 : 1) }
}
