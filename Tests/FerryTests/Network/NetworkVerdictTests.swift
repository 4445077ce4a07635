import FerryCore
import Testing

@testable import Ferry

@Suite struct NetworkVerdictTests {
    // MARK: Networks as values

    static func interface(_ name: String, _ addresses: String..., isUp: Bool = true, isTunnel: Bool = false)
        -> NetworkInterface
    {
        NetworkInterface(
            name: name, isUp: isUp, isLoopback: name == "lo", isPointToPoint: isTunnel, isTunnel: isTunnel,
            addresses: addresses.compactMap { NetworkAddress($0) })
    }

    static func route(
        _ prefix: String, _ interface: String, via gateway: String? = nil, table: Int = 254, metric: Int = 0
    )
        -> NetworkRoute
    {
        NetworkRoute(
            NetworkPrefix(prefix) ?? NetworkPrefix(NetworkAddress.any, length: 0), interface: interface,
            gateway: gateway.flatMap { NetworkAddress($0) }, table: table, metric: metric)
    }

    static func judge(
        _ table: NetworkTable?, manager: MeteredAnswer? = nil, settings: NetworkSettings = NetworkSettings(),
        before: NetworkSnapshot? = nil
    ) -> NetworkSnapshot {
        NetworkVerdict.judge(table, manager: manager, settings: settings, before: before)
    }

    static let home = NetworkTable(
        interfaces: [interface("lo", "127.0.0.1", "::1"), interface("eth0", "192.0.2.2", "2001:db8::2", "fe80::2")],
        routes: [
            route("0.0.0.0/0", "eth0", via: "192.0.2.1", metric: 100), route("192.0.2.0/24", "eth0"),
            route("::/0", "eth0", via: "fe80::1"), route("2001:db8::/64", "eth0"),
        ])

    static func home(_ change: (inout NetworkTable) -> Void) -> NetworkTable {
        var table = home
        change(&table)
        return table
    }

    // MARK: Online

    @Test(arguments: [
        (home, true, "default routes of both families"),
        (NetworkTable(), false, "nothing at all"),
        (home { $0.routes.removeAll(where: \.isDefault) }, false, "attached, but no way out"),
        (home { $0.interfaces[1].isUp = false }, false, "the cable is out"),
        (home { $0.interfaces[1].addresses = [] }, false, "a way out, but no address to come from"),
        (
            home {
                $0.interfaces[1].addresses.removeAll { !$0.isLinkLocal }
                $0.routes.removeAll { !$0.destination.address.isIPv6 }
            }, false, "IPv6 with nothing but a link-local address"
        ),
        (home { $0.routes.removeAll { !$0.destination.address.isIPv6 } }, true, "IPv6 alone"),
        (
            home { table in
                table.routes.removeAll(where: \.isDefault)
                table.routes += [route("0.0.0.0/1", "eth0"), route("128.0.0.0/1", "eth0")]
            }, true, "two halves in place of a default route"
        ),
        (
            NetworkTable(
                interfaces: [
                    interface("eth0", "192.0.2.2", isUp: false), interface("wg0", "10.0.0.2", isTunnel: true),
                ],
                routes: [route("0.0.0.0/0", "wg0", table: 51820), route("0.0.0.0/0", "eth0", via: "192.0.2.1")]),
            false, "a tunnel whose carrier is gone"
        ),
        (
            NetworkTable(
                interfaces: [interface("lo", "127.0.0.1"), interface("wg0", "10.0.0.2", isTunnel: true)],
                routes: [route("0.0.0.0/0", "wg0")]), true, "a container that has only a tunnel"
        ),
        (
            NetworkTable(
                interfaces: [interface("eth0", "192.0.2.2"), interface("tun0", "10.0.0.2", isTunnel: true)],
                routes: [route("0.0.0.0/0", "tun0"), route("203.0.113.9/32", "eth0", via: "192.0.2.1")]), true,
            "a tunnel in place of the default route"
        ),
    ])
    func `NetworkVerdict: online is a default route with an address`(table: NetworkTable, isOnline: Bool, why: String) {
        #expect(Self.judge(table).status.isOnline == isOnline, "\(why)")
    }

    @Test func `NetworkVerdict: without data of the kernel the network is online`() {
        #expect(Self.judge(nil) == .assumed)
        #expect(Self.judge(nil, manager: .yes).status.isMetered)
    }

    // MARK: Metered

    static let mobile = home {
        $0.interfaces[1].name = "wwan0"; for i in $0.routes.indices { $0.routes[i].interface = "wwan0" }
    }

    @Test(
        arguments: [
            (home, nil, nil, false), (home, .unknown, nil, false), (home, .yes, nil, true),
            (home, .guessYes, nil, true),
            (home, .no, nil, false), (home, .guessNo, nil, false),
            (mobile, nil, nil, true), (mobile, .unknown, nil, true), (mobile, .guessNo, nil, true),
            (mobile, .no, nil, false),
            (mobile, .yes, nil, true), (home, nil, true, true), (mobile, .yes, false, false),
        ] as [(NetworkTable, MeteredAnswer?, Bool?, Bool)])
    func `NetworkVerdict: settings take precedence over NetworkManager, and that over the interface name`(
        table: NetworkTable, manager: MeteredAnswer?, setting: Bool?, isMetered: Bool
    ) {
        let snapshot = Self.judge(table, manager: manager, settings: NetworkSettings(isMetered: setting))
        #expect(snapshot.status.isMetered == isMetered)
    }

    @Test func `NetworkVerdict: the best default route decides whether the network is metered`() {
        let both = Self.home {
            $0.interfaces.append(Self.interface("wwan0", "10.64.0.2"))
            $0.routes.append(Self.route("0.0.0.0/0", "wwan0", metric: 700))
        }
        #expect(!Self.judge(both).status.isMetered)
        let moved = Self.home {
            $0.interfaces.append(Self.interface("wwan0", "10.64.0.2"))
            $0.routes.append(Self.route("0.0.0.0/0", "wwan0", metric: 50))
        }
        #expect(Self.judge(moved).status.isMetered)
    }

    @Test func `NetworkVerdict: a tunnel is metered when its carrier is`() {
        let tunnelled = NetworkTable(
            interfaces: [Self.interface("wwan0", "10.64.0.2"), Self.interface("wg0", "10.0.0.2", isTunnel: true)],
            routes: [Self.route("0.0.0.0/1", "wg0"), Self.route("0.0.0.0/0", "wwan0", metric: 700)])
        #expect(Self.judge(tunnelled).status.isMetered)
    }

    @Test func `NetworkVerdict: constrained is what the settings say`() {
        #expect(!Self.judge(Self.home).status.isConstrained)
        #expect(Self.judge(Self.home, settings: NetworkSettings(isConstrained: true)).status.isConstrained)
    }

    // MARK: Generation

    static let eth0 = 1
    @Test(arguments: [
        (home, home, 0, "nothing"),
        (home, home { $0.interfaces[eth0].addresses.removeFirst() }, 1, "an address is gone"),
        (
            home,
            home { $0.interfaces[eth0].addresses.append(NetworkAddress.any) }, 0, "an address has been added"
        ),
        (home, home { $0.routes[0].gateway = NetworkAddress("192.0.2.9") }, 1, "another router"),
        (
            home,
            home {
                $0.interfaces.append(interface("wlan0", "198.51.100.2"))
                $0.routes.append(route("0.0.0.0/0", "wlan0", metric: 600))
            }, 0, "a second, worse way out"
        ),
        (
            home,
            home {
                $0.interfaces.append(interface("wlan0", "198.51.100.2"))
                $0.routes.append(route("0.0.0.0/0", "wlan0", metric: 50))
            }, 1, "a better way out"
        ),
        (home, home { $0.interfaces[eth0].isUp = false }, 0, "down: there is nothing to reconnect to"),
        (home { $0.interfaces[eth0].isUp = false }, home, 1, "up again"),
        (home { $0.routes.removeAll { $0.destination.address.isIPv6 } }, home, 0, "a router of the other family"),
        (home, home { $0.interfaces.append(interface("docker0", "172.17.0.1")) }, 0, "an interface that leads nowhere"),
        (home { $0.interfaces.append(interface("docker0", "172.17.0.1")) }, home, 0, "and it is gone again"),
        (home, home { $0.routes.append(route("0.0.0.0/0", "eth0", table: 51820)) }, 1, "a rule's own table"),
    ])
    func `NetworkVerdict: the generation grows when open connections have become useless`(
        first: NetworkTable, second: NetworkTable, steps: Int, why: String
    ) {
        let before = Self.judge(first)
        #expect(before.generation == 0)
        #expect(Self.judge(second, before: before).generation == steps, "\(why)")
    }

    @Test func `NetworkVerdict: the generation grows when an address goes while only local hosts are there`() {
        let island = Self.home { $0.routes.removeAll(where: \.isDefault) }
        var moved = island
        moved.interfaces[Self.eth0].addresses = [NetworkAddress.any]
        #expect(Self.judge(moved, before: Self.judge(island)).generation == 1)
    }
}

extension NetworkAddress {
    /// One of the addresses for documentation.
    static var any: NetworkAddress { NetworkAddress(bytes: [192, 0, 2, 77])! }
}
