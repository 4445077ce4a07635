/// A way to a range of addresses.
package struct NetworkRoute: Sendable, Hashable {
    package var destination: NetworkPrefix
    /// The name of the interface that it goes through.
    package var interface: String
    /// The router; `nil` when the destination is attached to the interface itself.
    package var gateway: NetworkAddress?
    /// Which routing table it stands in; 254 is the one that counts before all others.
    package var table: Int
    /// The lower one is taken.
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

    /// Leads to the outside: the destination is everything, or one of the halves (IPv6: the 2000::/3) that stand in
    /// for everything in front of a default route that must stay.
    package var isDefault: Bool { destination.length <= (destination.address.isIPv6 ? 3 : 1) }
}
