import FerryCore

extension NetworkSnapshot {
    /// Whether a host, in the form of `DownloadURL.host`, is reachable without the default route: it is never offline
    /// and never metered.
    ///
    /// True for loopback names (`localhost` and its subdomains, RFC 6761 §6.3) and for the addresses of
    /// ``isLocal(_:)-(NetworkAddress)``. False for any other name, since names are not resolved here.
    package func isLocal(_ host: String) -> Bool {
        if Self.isLoopbackName(host) { return true }
        return NetworkAddress(host).map(isLocal) ?? false
    }

    /// True for loopback, for addresses of this machine, and for destinations whose best route is no default route:
    /// on-link ones, and those behind a gateway on another interface than the default route's, unless that interface is
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

    static func isLoopbackName(_ host: String) -> Bool {
        let name = host.dropping(suffix: ".") ?? host[...]
        return name == "localhost" || name.utf8.hasSuffix(".localhost")
    }
}
