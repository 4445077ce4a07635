import FerryCore

/// A range of addresses with a common prefix.
package struct NetworkPrefix: Sendable, Hashable {
    package let address: NetworkAddress
    /// The number of prefix bits, from 0 to 32 or 128.
    package let length: Int

    /// A length out of range is clamped.
    package init(_ address: NetworkAddress, length: Int) {
        self.address = address
        self.length = min(max(length, 0), address.bytes.count * 8)
    }

    /// Parses a prefix such as `192.0.2.0/24`; without a length, the range is the address alone.
    package init?(_ text: String) {
        let parts = text.split(at: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = NetworkAddress(String(first)) else { return nil }
        guard parts.count == 2 else {
            self.init(address, length: address.bytes.count * 8)
            return
        }
        guard let length = Int(parts[1]), (0...address.bytes.count * 8).contains(length) else { return nil }
        self.init(address, length: length)
    }

    package func contains(_ other: NetworkAddress) -> Bool {
        guard other.isIPv6 == address.isIPv6 else { return false }
        let whole = length / 8
        guard address.bytes[..<whole] == other.bytes[..<whole] else { return false }
        let rest = length % 8
        return rest == 0 || (address.bytes[whole] ^ other.bytes[whole]) >> (8 - rest) == 0
    }
}
