import FerryCore

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Data
#else
    import struct Foundation.Data
#endif

/// The values that identify a multipart object.
struct MultipartIdentity: Sendable, Hashable {
    let bytes: ByteCount
    /// The SHA-256 of the SHA-256 digests of all parts, in Base64, and the number of parts.
    let checksum: String
    /// The MD5 of the MD5 digests of all parts, and their number: the ETag, unless the store encrypts with SSE-KMS or with the
    /// customer's keys. `nil` if a part has another ETag.
    let etag: String?

    init(_ parts: [S3Part]) {
        bytes = parts.reduce(0) { $0.adding($1.bytes) }
        let digests = parts.flatMap { $0.checksum.flatMap { Data(base64Encoded: $0) }.map(Array.init) ?? [] }
        checksum = Data(ByteDigest.of(digests, .sha256)).base64EncodedString() + "-\(parts.count)"
        let tags = parts.compactMap { part -> [UInt8]? in
            let digits = part.etag.utf8.dropFirst().dropLast()
            return digits.count == 32 ? HexText.bytes(digits) : nil
        }
        etag =
            tags.count == parts.count
            ? "\"\(HexText.string(ByteDigest.of(Array(tags.joined()), .md5)))-\(parts.count)\"" : nil
    }
}
