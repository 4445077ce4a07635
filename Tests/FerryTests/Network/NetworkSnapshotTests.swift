import FerryCore
import Testing

@testable import Ferry

@Suite struct NetworkSnapshotTests {
    static let snapshot = NetworkVerdict.judge(
        NetworkTable(
            interfaces: [
                NetworkVerdictTests.interface("lo", "127.0.0.1", "::1"),
                NetworkVerdictTests.interface("eth0", "192.0.2.2", "2001:db8::2"),
                NetworkVerdictTests.interface("eth1", "198.51.100.2"),
                NetworkVerdictTests.interface("wwan0", "10.64.0.2"),
                NetworkVerdictTests.interface("wg0", "10.8.0.2", isTunnel: true),
                NetworkVerdictTests.interface("eth2", "203.0.113.2", isUp: false),
            ],
            routes: [
                NetworkVerdictTests.route("0.0.0.0/0", "eth0", via: "192.0.2.1"),
                NetworkVerdictTests.route("::/0", "eth0", via: "fe80::1"),
                NetworkVerdictTests.route("192.0.2.0/24", "eth0"),
                NetworkVerdictTests.route("2001:db8::/64", "eth0"),
                NetworkVerdictTests.route("198.51.100.0/24", "eth1"),
                NetworkVerdictTests.route("172.16.0.0/12", "eth1", via: "198.51.100.1"),
                NetworkVerdictTests.route("10.0.0.0/9", "eth0", via: "192.0.2.7"),
                NetworkVerdictTests.route("10.64.0.0/30", "wwan0"),
                NetworkVerdictTests.route("10.65.0.0/16", "wwan0", via: "10.64.0.1"),
                NetworkVerdictTests.route("10.8.0.0/24", "wg0"),
                NetworkVerdictTests.route("203.0.113.0/24", "eth2"),
                NetworkVerdictTests.route("192.0.2.128/25", "eth0", via: "192.0.2.8"),
            ]), manager: nil, settings: NetworkSettings(), before: nil)

    @Test(arguments: [
        // Loopback.
        ("localhost", true), ("localhost.", true), ("box.localhost", true), ("mylocalhost", false),
        ("127.0.0.1", true), ("127.9.9.9", true), ("0.0.0.0", true), ("::1", true), ("::ffff:127.0.0.1", true),
        // Own addresses, and on-link ones.
        ("10.8.0.2", true), ("192.0.2.2", true), ("192.0.2.9", true), ("2001:db8::99", true), ("198.51.100.77", true),
        ("10.64.0.1", true), ("::ffff:192.0.2.9", true),
        // Behind a router of another network; behind one on the default interface; metered; down.
        ("172.20.1.1", true), ("10.1.2.3", false), ("10.65.0.1", false), ("203.0.113.5", false),
        // In a tunnel; outside; under a longer prefix through a router; names.
        ("10.8.0.9", false), ("93.184.216.34", false), ("2001:db9::1", false), ("192.0.2.200", false),
        ("example.com", false), ("nas.local", false), ("", false), (".", false), ("192.0.2", false),
        ("192.0.2.9:80", false),
    ])
    func `NetworkSnapshot: a host is local on the link or behind another network's router`(host: String, isLocal: Bool)
    {
        #expect(Self.snapshot.isLocal(host) == isLocal)
    }

    @Test func `NetworkSnapshot: a host of another attached network stays local without a default route`() {
        var offline = Self.snapshot
        offline.routes.removeAll(where: \.isDefault)
        offline.status.isOnline = false
        #expect(offline.isLocal("198.51.100.77"))
        #expect(offline.isLocal("10.1.2.3"), "no default route is left that it could be confused with")
        #expect(!offline.isLocal("93.184.216.34"))
    }

    @Test(arguments: ["192.0.2.0/33", "192.0.2.0/-1", "x/8", "", "/", "192.0.2.0/"])
    func `NetworkPrefix: an invalid text gives nil`(text: String) { #expect(NetworkPrefix(text) == nil) }

    @Test(arguments: [
        ("192.0.2.0/24", "192.0.2.255", true), ("192.0.2.0/25", "192.0.2.128", false), ("0.0.0.0/0", "8.8.8.8", true),
        ("0.0.0.0/0", "2001:db8::1", false), ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
        ("2001:db8::/63", "2001:db8:0:1::5", true), ("2001:db8::/64", "2001:db8:0:1::5", false),
        ("::/0", "2001:db8::1", true),
    ])
    func `NetworkPrefix: it holds addresses by their leading bits`(prefix: String, address: String, holds: Bool) throws
    {
        #expect(try #require(NetworkPrefix(prefix)).contains(try #require(NetworkAddress(address))) == holds)
    }
}
