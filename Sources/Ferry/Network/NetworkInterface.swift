import FerryCore

/// One interface of this machine, and what it is attached to.
package struct NetworkInterface: Sendable, Hashable {
    package var name: String
    /// Up, and what it is attached to is there.
    package var isUp: Bool
    package var isLoopback: Bool
    /// One peer only (tunnels, PPP): its prefixes say nothing about what is near.
    package var isPointToPoint: Bool
    /// What it carries goes through another interface in the end.
    package var isTunnel: Bool
    /// Addresses that connections may come from: neither being tried (tentative) nor being phased out (deprecated).
    package var addresses: [NetworkAddress]

    package init(
        name: String, isUp: Bool = true, isLoopback: Bool = false, isPointToPoint: Bool = false,
        isTunnel: Bool = false, addresses: [NetworkAddress] = []
    ) {
        self.name = name
        self.isUp = isUp
        self.isLoopback = isLoopback
        self.isPointToPoint = isPointToPoint
        self.isTunnel = isTunnel
        self.addresses = addresses
    }

    /// A mobile network, by the name that Linux gives it.
    package var isMobile: Bool { name.utf8.hasPrefix("wwan") }
}
