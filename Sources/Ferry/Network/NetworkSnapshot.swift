package import FerryCore

/// The network at one moment, as a value.
package struct NetworkSnapshot: Sendable, Hashable {
    /// What holds for every host that is not local.
    package var status: NetworkStatus
    package var interfaces: [NetworkInterface]
    /// Every way that leads somewhere; those through interfaces that are down are left out.
    package var routes: [NetworkRoute]
    /// Counts up when the path that connections use has changed, so that they are to be opened anew: the way to the
    /// outside goes elsewhere or has come back, or an address that connections come from is gone.
    package var generation: Int

    package init(
        status: NetworkStatus, interfaces: [NetworkInterface] = [], routes: [NetworkRoute] = [], generation: Int = 0
    ) {
        self.status = status
        self.interfaces = interfaces
        self.routes = routes
        self.generation = generation
    }

    /// What is taken for true where nothing can be known: online, neither metered nor constrained.
    package static let assumed = NetworkSnapshot(
        status: .online)

    /// The interface that leads to the outside; `nil` when none does or it is not known.
    package var defaultInterface: String? { (bestDefault(isIPv6: false) ?? bestDefault(isIPv6: true))?.interface }

    /// The way to the outside of one family: the main table's before others', then the lowest metric.
    package func bestDefault(isIPv6: Bool) -> NetworkRoute? {
        routes.lazy.filter { $0.isDefault && $0.destination.address.isIPv6 == isIPv6 }.min { $0.rank < $1.rank }
    }
}

extension NetworkRoute {
    /// The lower one is taken: the main table before others, then the metric.
    var rank: (Int, Int) { (table == Self.mainTable ? 0 : 1, metric) }
}
