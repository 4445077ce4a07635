import FerryEngine

/// SHA-256 of texts.
package enum SHA256Text {
    /// Returns the raw digest of the bytes.
    package static func digest(_ bytes: [UInt8]) -> [UInt8] { ByteDigest.of(bytes, .sha256) }

    /// Returns the digest in lower-case hexadecimal digits.
    package static func hex(_ bytes: some Sequence<UInt8>) -> String { HexText.string(digest(Array(bytes))) }
}
