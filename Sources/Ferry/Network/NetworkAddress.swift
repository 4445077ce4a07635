import FerryCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// An IPv4 or IPv6 address; an IPv4-mapped IPv6 address (`::ffff:1.2.3.4`) is converted to IPv4.
package struct NetworkAddress: Sendable, Hashable {
    /// Four or sixteen bytes in network order.
    package let bytes: [UInt8]

    /// Creates an address from its bytes; `nil` unless there are four or sixteen bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        let all = Array(bytes)
        let isMapped = all.count == 16 && all[..<10].allSatisfy { $0 == 0 } && all[10] == 255 && all[11] == 255
        self.bytes = isMapped ? Array(all[12...]) : all
    }

    /// Like ``init(bytes:)``, but keeps an IPv4-mapped address as IPv6, for the address of a prefix.
    init?(plain bytes: some Collection<UInt8>) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = Array(bytes)
    }

    /// Parses an address in the form of `DownloadURL.host`; `nil` for a name.
    package init?(_ text: String) {
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            self.init(bytes: withUnsafeBytes(of: &four) { Array($0) })
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            self.init(bytes: withUnsafeBytes(of: &six) { Array($0) })
        } else {
            return nil
        }
    }

    /// The address in a `sockaddr`; `nil` for other families.
    init?(_ pointer: UnsafePointer<sockaddr>) {
        let raw = UnsafeRawPointer(pointer)
        switch Int32(pointer.pointee.sa_family) {
        case AF_INET:
            let address = raw.loadUnaligned(as: sockaddr_in.self).sin_addr
            self.init(bytes: withUnsafeBytes(of: address) { Array($0) })
        case AF_INET6:
            let address = raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            self.init(bytes: withUnsafeBytes(of: address) { Array($0) })
        default: return nil
        }
    }

    /// The number of bits that a netmask sets. `bytes` is the part of the `sockaddr` that the system has written: Apple's
    /// systems trim trailing zero bytes, and do not always set the family.
    package func prefixLength(ofMask bytes: some Collection<UInt8>) -> Int {
        // The address follows length, family, port, and for IPv6 the flow information.
        bytes.dropFirst(isIPv6 ? 8 : 4).prefix(self.bytes.count).reduce(0) { $0 + $1.nonzeroBitCount }
    }

    /// Whether the address has sixteen bytes.
    package var isIPv6: Bool { bytes.count == 16 }

    /// Whether the address is in 127.0.0.0/8, is ::1, or is unspecified. A connection to an unspecified address leads to this host.
    package var isLoopback: Bool {
        isIPv6
            ? bytes[..<15].allSatisfy { $0 == 0 } && bytes[15] <= 1
            : bytes[0] == 127 || bytes.allSatisfy { $0 == 0 }
    }

    /// Whether the address is in 169.254.0.0/16 or fe80::/10.
    package var isLinkLocal: Bool {
        isIPv6 ? bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80 : bytes[0] == 169 && bytes[1] == 254
    }
}

extension NetworkAddress: CustomStringConvertible {
    package var description: String {
        isIPv6
            ? stride(from: 0, to: 16, by: 2).map { String(Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]), radix: 16) }
                .joined(separator: ":")
            : bytes.map(String.init).joined(separator: ".")
    }
}

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

    /// Parses a prefix such as `192.0.2.0/24`; without a length, the range is the single address.
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
