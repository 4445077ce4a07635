import FerryCore
import Testing

@Suite("PrivateAddress")
struct PrivateAddressTests {
    @Test(
        "PrivateAddress: both ends of each private block are refused",
        arguments: [
            ("0.0.0.0", "0.255.255.255"), ("10.0.0.0", "10.255.255.255"), ("100.64.0.0", "100.127.255.255"),
            ("127.0.0.0", "127.255.255.255"), ("169.254.0.0", "169.254.255.255"), ("172.16.0.0", "172.31.255.255"),
            ("192.0.0.0", "192.0.0.255"), ("192.0.2.0", "192.0.2.255"), ("192.88.99.0", "192.88.99.255"),
            ("192.168.0.0", "192.168.255.255"), ("198.18.0.0", "198.19.255.255"), ("198.51.100.0", "198.51.100.255"),
            ("203.0.113.0", "203.0.113.255"), ("224.0.0.0", "239.255.255.255"), ("240.0.0.0", "255.255.255.255"),
            ("169.254.169.254", "100.100.100.200"), ("::", "::1"), ("fe80::", "febf:ffff::1"), ("fec0::", "feff::1"),
            ("fc00::", "fdff:ffff::1"), ("ff00::", "ffff::1"), ("fd00:ec2::254", "fd20:ce::254"),
            ("64:ff9b:1::", "64:ff9b:1:ffff::"), ("100::", "100::ffff:ffff:ffff:ffff"),
            ("2001:db8::", "2001:db8:ffff::1"),
            ("5f00::", "5f00:ffff::1"),
        ])
    func blocks(first: String, last: String) throws {
        for text in [first, last] {
            let address = try #require(IPAddress(text))
            #expect(PrivateAddress.kind(of: address) != nil, "\(text)")
        }
    }

    @Test(
        "PrivateAddress: addresses right beside the private blocks are allowed",
        arguments: [
            "1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
            "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255",
            "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "8.8.8.8", "2606:4700:4700::1111",
            "2001:4860:4860::8888", "2a00::1", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8", "2002:808:808::1", "::8.8.8.8",
            "2001:0:808:808::f7f7:f7f7",
        ])
    func beside(text: String) throws {
        #expect(PrivateAddress.kind(of: try #require(IPAddress(text))) == nil)
    }

    @Test(
        "PrivateAddress: an IPv6 address with an embedded private IPv4 address is refused as that one",
        arguments: [
            ("::ffff:127.0.0.1", PrivateAddress.loopback), ("::127.0.0.1", .loopback),
            ("64:ff9b::10.0.0.1", .privateUse),
            ("2002:7f00:1::1", .loopback), ("2002:a9fe:a9fe::1", .metadata), ("2001:0:7f00:1::1", .loopback),
            ("2001:0:808:808::80ff:fffe", .loopback), ("2600::5efe:192.168.0.1", .privateUse),
            ("2600::200:5efe:169.254.169.254", .metadata),
        ])
    func embedded(text: String, kind: PrivateAddress) throws {
        #expect(PrivateAddress.kind(of: try #require(IPAddress(text))) == kind)
    }

    @Test("PrivateAddress: the metadata addresses are recognised as such")
    func metadata() throws {
        for text in ["169.254.169.254", "fd00:ec2::254"] {
            #expect(PrivateAddress.kind(of: try #require(IPAddress(text))) == .metadata)
        }
    }

    @Test(
        "PrivateAddress: private literals and localhost names in URLs are refused without a lookup",
        arguments: [
            ("127.0.0.1", true), ("::1", true), ("localhost", true), ("a.localhost", true), ("localhost.", true),
            ("localhost.example", false), ("notlocalhost", false), ("example.com", false), ("8.8.8.8", false),
        ])
    func hosts(host: String, isRefused: Bool) {
        #expect((PrivateAddress.kind(ofHost: host) != nil) == isRefused)
    }

    @Test("PrivateAddress: a peer with the machine's own public address counts as loopback")
    func ownAddress() throws {
        let (own, other) = (try #require(IPAddress("93.184.215.14")), try #require(IPAddress("93.184.215.15")))
        #expect(PrivateAddress.kind(ofPeer: own, local: own) == .loopback)
        #expect(PrivateAddress.kind(ofPeer: other, local: own) == nil)
        #expect(PrivateAddress.kind(ofPeer: other, local: nil) == nil)
    }

    @Test(
        "IPAddress: an address is written back as it was parsed",
        arguments: ["1.2.3.4", "::", "2001:db8::1", "fe80::1:0:0:1"])
    func text(text: String) { #expect(IPAddress(text)?.description == text) }

    @Test(
        "IPAddress: names and wrong numbers of bytes give nil",
        arguments: ["example.com", "1.2.3", "01.2.3.4", "[::1]", ""])
    func none(text: String) {
        #expect(IPAddress(text) == nil)
        #expect(IPAddress(bytes: [1, 2, 3]) == nil)
    }
}
