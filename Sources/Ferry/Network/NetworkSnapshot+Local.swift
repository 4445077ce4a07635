import FerryCore

extension NetworkSnapshot {
    /// Whether a host, written as in `DownloadURL.host`, is reached without the way to the outside: it is never
    /// "offline" and its bytes never cost money.
    ///
    /// So are names of loopback (`localhost` and what ends in it, RFC 6761 §6.3) and the addresses of
    /// ``isLocal(_:)-(NetworkAddress)``. Any other name is not: this looks nothing up.
    package func isLocal(_ host: String) -> Bool {
        if Self.isLoopbackName(host) { return true }
        return NetworkAddress(host).map(isLocal) ?? false
    }

    /// Loopback, an address of this machine, and what the best route reaches without a default route: what is
    /// attached to an interface of ours (on-link), or lies behind a router on another interface than the one that leads
    /// outside, unless that interface is a tunnel or a mobile network.
    package func isLocal(_ address: NetworkAddress) -> Bool {
        if address.isLoopback || interfaces.contains(where: { $0.isUp && $0.addresses.contains(address) }) {
            return true
        }
        guard let route = route(to: address), !route.isDefault,
            let interface = interfaces.first(where: { $0.name == route.interface }), !interface.isPointToPoint
        else { return false }
        return route.gateway == nil || !interface.isMobile && route.interface != defaultInterface
    }

    /// The route that the longest prefix chooses.
    func route(to address: NetworkAddress) -> NetworkRoute? {
        routes.lazy.filter { $0.destination.contains(address) }
            .max { ($0.destination.length, -$0.metric) < ($1.destination.length, -$1.metric) }
    }

    static func isLoopbackName(_ host: String) -> Bool {
        let name = host.dropping(suffix: ".") ?? host[...]
        return name == "localhost" || name.utf8.hasSuffix(".localhost")
    }
}
