/// An IPv4 or IPv6 address.
package struct IPAddress: Sendable, Hashable {
    /// Four or sixteen bytes in network byte order.
    package let bytes: [UInt8]

    /// Returns `nil` for any other number of bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Parses four decimal numbers, or IPv6 without brackets and zone; `nil` for a name.
    package init?(_ text: String) {
        if HostName.isIPv4(text) {
            bytes = text.utf8.split(separator: UInt8(ascii: ".")).compactMap {
                ASCII.number($0).map { UInt8(clamping: $0) }
            }
        } else {
            guard let groups = IPv6Text.groups(Array(text.utf8)[...]) else { return nil }
            bytes = groups.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        }
    }

    /// Whether the first `bits` bits of the address equal those of `prefix`.
    package func isIn(_ prefix: IPAddress, bits: Int) -> Bool {
        guard bytes.count == prefix.bytes.count, bits <= bytes.count * 8 else { return false }
        let whole = bits / 8
        guard bytes[..<whole] == prefix.bytes[..<whole] else { return false }
        let rest = bits % 8
        return rest == 0 || (bytes[whole] ^ prefix.bytes[whole]) >> (8 - rest) == 0
    }
}

extension IPAddress: CustomStringConvertible {
    package var description: String {
        guard bytes.count == 16 else { return bytes.map { String($0) }.joined(separator: ".") }
        return IPv6Text.format(stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) })
    }
}

/// The text form of IPv6 addresses (RFC 4291 §2.2, RFC 5952).
enum IPv6Text {
    /// Returns the canonical text: lower case, no leading zeros, the longest run of zeros as `::`; `nil` if the input
    /// is invalid.
    static func normalize(_ bytes: ArraySlice<UInt8>) -> String? { groups(bytes).map(format) }

    /// Parses eight groups of 16 bits.
    static func groups(_ bytes: ArraySlice<UInt8>) -> [UInt16]? {
        guard bytes.count >= 2, bytes.count <= 45 else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        let halves = splitOnce(text)
        guard let head = list(halves.head, isLast: halves.tail == nil) else { return nil }
        guard let tailText = halves.tail else { return head.count == 8 ? head : nil }
        guard let tail = list(tailText, isLast: true), head.count + tail.count <= 7 else { return nil }
        return head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail
    }

    static func format(_ groups: [UInt16]) -> String {
        var best = 0..<0
        var start = 0
        while start < groups.count {
            var end = start
            while end < groups.count, groups[end] == 0 { end += 1 }
            if end - start > max(best.count, 1) { best = start..<end }
            start = max(end, start + 1)
        }
        let hex = { (part: ArraySlice<UInt16>) in part.map { String($0, radix: 16) }.joined(separator: ":") }
        guard !best.isEmpty else { return hex(groups[...]) }
        return hex(groups[..<best.lowerBound]) + "::" + hex(groups[best.upperBound...])
    }

    /// Splits the text at the first `::`.
    private static func splitOnce(_ text: String) -> (head: Substring, tail: Substring?) {
        var index = text.startIndex
        while index < text.endIndex {
            let next = text.index(after: index)
            if text[index] == ":", next < text.endIndex, text[next] == ":" {
                return (text[..<index], text[text.index(after: next)...])
            }
            index = next
        }
        return (text[...], nil)
    }

    /// Parses groups between colons; the last may be an IPv4 address, which counts as two groups.
    private static func list(_ text: Substring, isLast: Bool) -> [UInt16]? {
        if text.isEmpty { return [] }
        var groups: [UInt16] = []
        let parts = text.split(at: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if part.utf8.contains(UInt8(ascii: ".")) {
                guard isLast, index == parts.count - 1, HostName.isIPv4(part) else { return nil }
                let bytes = part.split(at: ".").compactMap { UInt16($0) }
                guard bytes.count == 4 else { return nil }
                groups += [bytes[0] << 8 | bytes[1], bytes[2] << 8 | bytes[3]]
            } else {
                guard part.utf8.count <= 4, part.utf8.allSatisfy({ PercentEncoding.hexValue($0) != nil }),
                    let group = UInt16(part, radix: 16)
                else { return nil }
                groups.append(group)
            }
        }
        return groups.count <= 8 ? groups : nil
    }
}

/// The kinds of addresses outside the public internet (RFC 6890 and IANA's special-purpose address registries).
package enum PrivateAddress: String, Sendable, Hashable, CaseIterable {
    case unspecified, loopback, linkLocal, privateUse, sharedUse, reserved, benchmarking, multicast
    /// Instance metadata services of cloud providers, which return credentials.
    case metadata

    /// Returns the kind of an address; `nil` for a public one. An IPv6 address that embeds an IPv4 address has the kind
    /// of the embedded address.
    package static func kind(of address: IPAddress) -> PrivateAddress? {
        if let row = table.first(where: { address.isIn($0.prefix, bits: $0.bits) }) { return row.kind }
        return embedded(in: address).lazy.compactMap { kind(of: $0) }.first
    }

    /// Returns the kind of a URL's host without resolving it, from an address or a name for this machine (RFC 6761
    /// §6.3).
    package static func kind(ofHost host: String) -> PrivateAddress? {
        if let address = IPAddress(host) { return kind(of: address) }
        let name = host.utf8.last == UInt8(ascii: ".") ? String(host.dropLast()) : host
        return CookieRules.host(name, matches: "localhost") ? .loopback : nil
    }

    /// Returns the kind of a connection from its two addresses; `nil` for a public one. Equal addresses at both ends
    /// belong to this machine, even if they are public.
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

    /// The first matching row applies.
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
