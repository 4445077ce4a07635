import FerryCore

/// A network interface of this machine.
package struct NetworkInterface: Sendable, Hashable {
    package var name: String
    /// Whether the interface is up and has a carrier.
    package var isUp: Bool
    package var isLoopback: Bool
    /// Whether there is only one peer (tunnels, PPP); the interface's prefixes then do not mean a local network.
    package var isPointToPoint: Bool
    /// Whether packets travel through another interface.
    package var isTunnel: Bool
    /// Addresses usable as source: neither tentative nor deprecated.
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

    /// Whether Linux names the interface as a mobile network.
    package var isMobile: Bool { name.utf8.hasPrefix("wwan") }
}
