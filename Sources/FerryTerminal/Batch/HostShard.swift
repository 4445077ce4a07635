import Ferry

/// One of the equal parts of all hosts, for machines that share a list.
///
/// A host is in part `1 + d mod N`, where `d` is the first 8 bytes of the SHA-256 of its name (in lower case, as in the
/// URL; Punycode; an IPv6 address without brackets) as a big-endian number. The rule never changes. An entry without a
/// usable URL is in the first part.
package struct HostShard: Sendable, Hashable, CustomStringConvertible {
    /// The number of the part, from 1.
    let number: Int
    /// The number of parts.
    let count: Int

    private static let mostParts = 1_000_000

    /// Parses `K/N`.
    package init(parsing text: String) throws(UsageError) {
        let parts = text.split(at: "/", omittingEmptySubsequences: false).map { part in
            part.utf8.allSatisfy { 0x30...0x39 ~= $0 } ? Int(part) : nil
        }
        guard parts.count == 2, let number = parts[0], let count = parts[1], 1...Self.mostParts ~= count,
            1...count ~= number
        else { throw UsageError("--shard \(text): write K/N, numbers with 1 ≤ K ≤ N ≤ 1000000") }
        (self.number, self.count) = (number, count)
    }

    /// Whether the part contains a host's entries; `nil` is the host of an entry without a usable URL.
    package func contains(_ host: String?) -> Bool {
        guard let host else { return number == 1 }
        return count == 1 || Self.number(of: host, count: count) == number
    }

    /// Returns the part of a host.
    static func number(of host: String, count: Int) -> Int {
        let value = SHA256Text.digest(Array(host.utf8)).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return 1 + Int(value % UInt64(count))
    }

    /// `K/N`.
    package var description: String { "\(number)/\(count)" }
}
