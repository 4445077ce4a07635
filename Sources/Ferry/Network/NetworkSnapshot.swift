package import FerryCore

/// The state of the network at one moment.
package struct NetworkSnapshot: Sendable, Hashable {
    /// The status for hosts that are not local.
    package var status: NetworkStatus
    package var interfaces: [NetworkInterface]
    /// Routes through interfaces that are up.
    package var routes: [NetworkRoute]
    /// Increases when open connections have become unusable: the default route has changed or returned, or a source
    /// address is gone.
    package var generation: Int

    package init(
        status: NetworkStatus, interfaces: [NetworkInterface] = [], routes: [NetworkRoute] = [], generation: Int = 0
    ) {
        self.status = status
        self.interfaces = interfaces
        self.routes = routes
        self.generation = generation
    }

    /// The state where none can be determined: online, neither metered nor constrained.
    package static let assumed = NetworkSnapshot(
        status: .online)

    /// The interface of the default route; `nil` if there is none or it is unknown.
    package var defaultInterface: String? { (bestDefault(isIPv6: false) ?? bestDefault(isIPv6: true))?.interface }

    /// The default route of one family: the main table first, then the lowest metric.
    package func bestDefault(isIPv6: Bool) -> NetworkRoute? {
        routes.lazy.filter { $0.isDefault && $0.destination.address.isIPv6 == isIPv6 }.min { $0.rank < $1.rank }
    }
}

extension NetworkRoute {
    /// The order of preference, lowest first: the main table, then the metric.
    var rank: (Int, Int) { (table == Self.mainTable ? 0 : 1, metric) }
}
