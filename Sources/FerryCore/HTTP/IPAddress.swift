/// An IPv4 or IPv6 address.
package struct IPAddress: Sendable, Hashable {
    /// Four or sixteen bytes in network order.
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

    /// Whether the first `bits` are those of `prefix`.
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
