/// Collects links, addresses and routes from dump messages; independent of sockets.
struct NetlinkTable {
    private var links: [UInt32: NetworkInterface] = [:]
    private var addresses: [(index: UInt32, address: NetworkAddress)] = []
    private var routes: [(index: UInt32, route: NetworkRoute)] = []

    /// The maximum number of routes. It is limited, because an Internet router has a million routes. Default routes are always
    /// included.
    static let maximumRoutes = 4096

    /// Kinds of interfaces whose packets travel through other interfaces.
    private static let tunnelKinds: Set<String> = [
        "tun", "wireguard", "ipip", "sit", "gre", "ip6gre", "ip6tnl", "vti", "vti6", "xfrm", "amneziawg",
    ]

    init() {}

    /// The table so far; interfaces sorted by index, routes in the kernel's order.
    var table: NetworkTable {
        var byIndex = links
        for (index, address) in addresses { byIndex[index]?.addresses.append(address) }
        let interfaces = byIndex.sorted { $0.key < $1.key }.map(\.value)
        let named = routes.compactMap { index, route -> NetworkRoute? in
            guard let link = links[index], !link.isLoopback else { return nil }
            var route = route
            route.interface = link.name
            return route
        }
        return NetworkTable(interfaces: interfaces, routes: named)
    }

    /// Adds a message of a dump; messages of other types are ignored.
    mutating func add(_ message: NetlinkMessage) {
        switch message.type {
        case NetlinkMessage.newLink: addLink(message.payload)
        case NetlinkMessage.newAddress: addAddress(message.payload)
        case NetlinkMessage.newRoute: addRoute(message.payload)
        default: break
        }
    }

    /// struct ifinfomsg: family, type, index, flags; IFLA_IFNAME 3, IFLA_LINKINFO 18 with IFLA_INFO_KIND 1.
    private mutating func addLink(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count >= 16 else { return }
        let flags = bytes.word(at: 8)
        let attributes = NetlinkMessage.attributes(bytes, after: 16)
        guard let name = attributes[3]?.text, !name.isEmpty else { return }
        let kind = attributes[18].flatMap { NetlinkMessage.attributes($0, after: 0)[1] }?.text
        let isPointToPoint = flags & 0x10 != 0
        // IFF_UP and IFF_RUNNING: administratively up, and the operational state is up or unknown (RFC 2863).
        let interface = NetworkInterface(
            name: name, isUp: flags & 0x41 == 0x41, isLoopback: flags & 8 != 0, isPointToPoint: isPointToPoint,
            isTunnel: isPointToPoint && Self.tunnelKinds.contains(kind ?? ""), isBridge: kind == "bridge")
        links[bytes.word(at: 4)] = interface
    }

    /// struct ifaddrmsg: family, prefix length, flags, scope, index; IFA_ADDRESS 1, IFA_LOCAL 2, IFA_FLAGS 8.
    private mutating func addAddress(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count >= 8 else { return }
        let attributes = NetlinkMessage.attributes(bytes, after: 8)
        let flags = attributes[8]?.word(at: 0) ?? UInt32(bytes.byte(at: 2))
        // Skip tentative addresses (unless optimistic), deprecated addresses, and those with failed duplicate detection.
        let isTentative = flags & 0x40 != 0 && flags & 0x04 == 0
        guard !isTentative, flags & 0x28 == 0 else { return }
        // On a link with a peer, IFA_LOCAL is our address; IPv6 without a peer has only IFA_ADDRESS.
        guard let address = (attributes[2] ?? attributes[1]).flatMap({ NetworkAddress(bytes: $0) }) else { return }
        addresses.append((bytes.word(at: 4), address))
    }

    /// struct rtmsg: family, length of the destination, …, table, …, scope, type, flags; RTA_DST 1, RTA_OIF 4,
    /// RTA_GATEWAY 5, RTA_PRIORITY 6, RTA_MULTIPATH 9, RTA_TABLE 15, RTA_VIA 18.
    private mutating func addRoute(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count >= 12 else { return }
        let family = bytes.byte(at: 0)
        // RTN_UNICAST only: no local addresses and no prohibited routes; no cached copies (RTM_F_CLONED).
        guard family == 2 || family == 10, bytes.byte(at: 7) == 1, bytes.word(at: 8) & 0x200 == 0 else { return }
        let attributes = NetlinkMessage.attributes(bytes, after: 12)
        let nothing = [UInt8](repeating: 0, count: family == 2 ? 4 : 16)
        guard let destination = NetworkAddress(plain: attributes[1] ?? nothing[...]) else { return }
        let prefix = NetworkPrefix(destination, length: Int(bytes.byte(at: 1)))
        let table = Int(attributes[15]?.word(at: 0) ?? UInt32(bytes.byte(at: 4)))
        let metric = Int(attributes[6]?.word(at: 0) ?? 0)
        func add(index: UInt32, flags: UInt32, gateway: NetworkAddress?) {
            // RTNH_F_DEAD, RTNH_F_LINKDOWN.
            guard flags & 0x11 == 0, index != 0 else { return }
            let route = NetworkRoute(prefix, interface: "", gateway: gateway, table: table, metric: metric)
            guard route.isDefault || routes.count < Self.maximumRoutes else { return }
            routes.append((index, route))
        }
        if let hops = attributes[9] {
            for hop in Self.hops(hops) { add(index: hop.index, flags: hop.flags, gateway: hop.gateway) }
        } else {
            add(
                index: attributes[4]?.word(at: 0) ?? 0, flags: bytes.word(at: 8),
                gateway: Self.gateway(attributes))
        }
    }

    /// A list of struct rtnexthop: length, flags, hops, index, attributes.
    private static func hops(
        _ bytes: ArraySlice<UInt8>
    ) -> [(index: UInt32, flags: UInt32, gateway: NetworkAddress?)] {
        var rest = bytes
        var hops: [(UInt32, UInt32, NetworkAddress?)] = []
        while rest.count >= 8 {
            let length = Int(rest.word(at: 0) & 0xFFFF)
            guard length >= 8, length <= rest.count else { break }
            let attributes = NetlinkMessage.attributes(rest.prefix(length), after: 8)
            hops.append((rest.word(at: 4), UInt32(rest.byte(at: 2)), gateway(attributes)))
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return hops
    }

    private static func gateway(_ attributes: [UInt16: ArraySlice<UInt8>]) -> NetworkAddress? {
        // RTA_VIA contains a gateway of the other address family; its first two bytes are that family.
        (attributes[5] ?? attributes[18]?.dropFirst(2)).flatMap { NetworkAddress(bytes: $0) }
    }
}
