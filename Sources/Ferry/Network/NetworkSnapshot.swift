package import FerryCore

/// The state of the network at a given moment.
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

    /// The state that is assumed if none can be determined: online, neither metered nor constrained.
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

extension NetworkSnapshot {
    /// Whether a host, in the form of `DownloadURL.host`, is reachable without the default route; such a host is never offline
    /// and never metered.
    ///
    /// True for loopback names (`localhost` and its subdomains, RFC 6761 §6.3) and for the addresses of
    /// ``isLocal(_:)-(NetworkAddress)``. False for any other name, because names are not resolved here.
    package func isLocal(_ host: String) -> Bool {
        if Self.isLoopbackName(host) { return true }
        return NetworkAddress(host).map(isLocal) ?? false
    }

    /// True for loopback, for addresses of this machine, and for destinations whose best route is not a default route: on-link
    /// destinations, and destinations behind a gateway on an interface other than the default route's, unless that interface is
    /// a mobile network. False for routes through point-to-point interfaces.
    package func isLocal(_ address: NetworkAddress) -> Bool {
        if address.isLoopback || interfaces.contains(where: { $0.isUp && $0.addresses.contains(address) }) {
            return true
        }
        guard let route = route(to: address), !route.isDefault,
            let interface = interfaces.first(where: { $0.name == route.interface }), !interface.isPointToPoint
        else { return false }
        return route.gateway == nil || !interface.isMobile && route.interface != defaultInterface
    }

    /// The route with the longest prefix, then the lowest metric.
    func route(to address: NetworkAddress) -> NetworkRoute? {
        routes.lazy.filter { $0.destination.contains(address) }
            .max { ($0.destination.length, -$0.metric) < ($1.destination.length, -$1.metric) }
    }

    /// Whether the machine is on a network, with or without a route to other networks: an interface is up, has an address that
    /// is not link-local, and is neither loopback nor a point-to-point link nor a bridge (such as a container bridge).
    var hasNetwork: Bool {
        interfaces.contains { interface in
            interface.isUp && !interface.isLoopback && !interface.isPointToPoint && !interface.isBridge
                && interface.addresses.contains { !$0.isLinkLocal }
        }
    }

    static func isLoopbackName(_ host: String) -> Bool {
        let name = host.dropping(suffix: ".") ?? host[...]
        return name == "localhost" || name.utf8.hasSuffix(".localhost")
    }
}

/// A route to a range of addresses.
package struct NetworkRoute: Sendable, Hashable {
    package var destination: NetworkPrefix
    /// The name of the outgoing interface.
    package var interface: String
    /// The gateway; `nil` if the destination is on-link.
    package var gateway: NetworkAddress?
    /// The routing table; 254, the main table, takes precedence.
    package var table: Int
    /// The metric; the route with the lowest metric is chosen.
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

    /// Whether the route is a default route, or overrides a default route without replacing it, as routes to the two halves of all
    /// addresses do (for IPv6 also a route to 2000::/3).
    package var isDefault: Bool { destination.length <= (destination.address.isIPv6 ? 3 : 1) }
}

/// A network interface of this machine.
package struct NetworkInterface: Sendable, Hashable {
    package var name: String
    /// Whether the interface is up and has a carrier.
    package var isUp: Bool
    package var isLoopback: Bool
    /// Whether the interface has only one peer (tunnels, PPP); its prefixes then do not denote a local network.
    package var isPointToPoint: Bool
    /// Whether packets travel through another interface.
    package var isTunnel: Bool
    /// Whether the interface bridges other interfaces, often only those of containers. False if unknown.
    package var isBridge: Bool
    /// The addresses that can be used as source addresses: neither tentative nor deprecated.
    package var addresses: [NetworkAddress]

    package init(
        name: String, isUp: Bool = true, isLoopback: Bool = false, isPointToPoint: Bool = false,
        isTunnel: Bool = false, isBridge: Bool = false, addresses: [NetworkAddress] = []
    ) {
        self.name = name
        self.isUp = isUp
        self.isLoopback = isLoopback
        self.isPointToPoint = isPointToPoint
        self.isTunnel = isTunnel
        self.isBridge = isBridge
        self.addresses = addresses
    }

    /// Whether the interface has a name that Linux gives to mobile networks.
    package var isMobile: Bool { name.utf8.hasPrefix("wwan") }
}
