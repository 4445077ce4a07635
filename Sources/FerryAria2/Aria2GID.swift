import Crypto
package import FerryCore

/// The gid of a download: 64 bits, written as 16 hexadecimal digits.
///
/// The gid of a generated identifier has the bits of the identifier, so each can be computed from the other. The gid of an
/// identifier in any other form is the first 64 bits of the identifier's SHA-256 digest. Both stay the same while the download
/// is listed.
package struct Aria2GID: Sendable, Hashable, CustomStringConvertible {
    package let bits: UInt64

    package init(_ id: DownloadID) {
        bits =
            id.bits
            ?? SHA256.hash(data: Array(id.rawValue.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Parses a complete gid. Returns `nil` for 0, which aria2 assigns to no download.
    package init?(_ text: String) {
        guard let prefix = Prefix(text), prefix.length == Prefix.mostDigits, prefix.bits != 0 else { return nil }
        bits = prefix.bits
    }

    /// The generated identifier with this gid.
    package var id: DownloadID { DownloadID(bits: bits) }

    package var description: String {
        let digits = String(bits, radix: 16)
        return String(repeating: "0", count: Prefix.mostDigits - digits.count) + digits
    }

    /// The first digits of a gid.
    package struct Prefix: Sendable, Hashable {
        package static let mostDigits = 16
        fileprivate let bits: UInt64
        fileprivate let length: Int

        /// Returns `nil` unless the text consists of 1 to 16 hexadecimal digits.
        package init?(_ text: String) {
            length = text.utf8.count
            let areDigits = text.utf8.allSatisfy { PercentEncoding.hexValue($0) != nil }
            guard (1...Self.mostDigits).contains(length), areDigits, let bits = UInt64(text, radix: 16) else {
                return nil
            }
            self.bits = bits
        }

        package func begins(_ gid: Aria2GID) -> Bool { gid.bits >> UInt64(4 * (Self.mostDigits - length)) == bits }
    }
}
