/// The kinds of addresses outside the public internet (RFC 6890 and IANA's special-purpose address registries).
package enum PrivateAddress: String, Sendable, Hashable, CaseIterable {
    case unspecified, loopback, linkLocal, privateUse, sharedUse, reserved, benchmarking, multicast
    /// Instance metadata services of clouds, which return credentials.
    case metadata

    /// Returns the kind of an address; `nil` for a public one. An IPv6 address that embeds IPv4 has the kind of the
    /// embedded address.
    package static func kind(of address: IPAddress) -> PrivateAddress? {
        if let row = table.first(where: { address.isIn($0.prefix, bits: $0.bits) }) { return row.kind }
        return embedded(in: address).lazy.compactMap { kind(of: $0) }.first
    }

    /// Returns the kind of a URL's host without resolving it: an address, or a name of this machine (RFC 6761 §6.3).
    package static func kind(ofHost host: String) -> PrivateAddress? {
        if let address = IPAddress(host) { return kind(of: address) }
        let name = host.utf8.last == UInt8(ascii: ".") ? String(host.dropLast()) : host
        return CookieRules.host(name, matches: "localhost") ? .loopback : nil
    }

    /// Returns the kind of a connection by its two addresses; `nil` for a public one. Equal addresses at both ends are
    /// this machine's own, even if public.
    package static func kind(ofPeer peer: IPAddress, local: IPAddress?) -> PrivateAddress? {
        kind(of: peer) ?? (peer == local ? .loopback : nil)
    }

    /// The IPv4 addresses embedded in an IPv6 address: mapped and compatible (RFC 4291 §2.5.5), translated (RFC 6052,
    /// RFC 8215), 6to4 (RFC 3056 §2), Teredo's server and client (RFC 4380 §4), ISATAP (RFC 5214 §6.1).
    private static func embedded(in address: IPAddress) -> [IPAddress] {
        let bytes = address.bytes
        guard bytes.count == 16 else { return [] }
        func four(_ start: Int) -> IPAddress? { IPAddress(bytes: Array(bytes[start..<start + 4])) }
        if bytes[..<10].allSatisfy({ $0 == 0 }), bytes[10] == bytes[11], bytes[10] == 0 || bytes[10] == 255 {
            return [four(12)].compactMap(\.self)
        }
        if bytes[..<12].elementsEqual([0x00, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8)) {
            return [four(12)].compactMap(\.self)
        }
        if bytes[0] == 0x20, bytes[1] == 0x02 { return [four(2)].compactMap(\.self) }
        if bytes[..<4].elementsEqual([0x20, 0x01, 0, 0]) {
            return [four(4), IPAddress(bytes: bytes[12...].map { ~$0 })].compactMap(\.self)
        }
        if bytes[8] & 0xFD == 0, bytes[9...11].elementsEqual([0, 0x5E, 0xFE]) { return [four(12)].compactMap(\.self) }
        return []
    }

    private struct Row: Sendable {
        let prefix: IPAddress
        let bits: Int
        let kind: PrivateAddress

        init?(_ text: String, _ bits: Int, _ kind: PrivateAddress) {
            guard let prefix = IPAddress(text) else { return nil }
            (self.prefix, self.bits, self.kind) = (prefix, bits, kind)
        }
    }

    /// The first matching row counts.
    private static let table: [Row] = [
        Row("169.254.169.254", 32, .metadata), Row("100.100.100.200", 32, .metadata),
        Row("0.0.0.0", 8, .unspecified), Row("10.0.0.0", 8, .privateUse), Row("100.64.0.0", 10, .sharedUse),
        Row("127.0.0.0", 8, .loopback), Row("169.254.0.0", 16, .linkLocal), Row("172.16.0.0", 12, .privateUse),
        Row("192.0.0.0", 24, .reserved), Row("192.0.2.0", 24, .reserved), Row("192.88.99.0", 24, .reserved),
        Row("192.168.0.0", 16, .privateUse), Row("198.18.0.0", 15, .benchmarking), Row("198.51.100.0", 24, .reserved),
        Row("203.0.113.0", 24, .reserved), Row("224.0.0.0", 4, .multicast), Row("240.0.0.0", 4, .reserved),

        Row("fd00:ec2::254", 128, .metadata), Row("fd20:ce::254", 128, .metadata),
        Row("::", 128, .unspecified), Row("::1", 128, .loopback), Row("fe80::", 10, .linkLocal),
        Row("fec0::", 10, .privateUse), Row("fc00::", 7, .privateUse), Row("ff00::", 8, .multicast),
        Row("64:ff9b:1::", 48, .reserved), Row("100::", 64, .reserved), Row("2001:db8::", 32, .reserved),
        Row("5f00::", 16, .reserved),
    ].compactMap(\.self)
}
