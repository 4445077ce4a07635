package import FerryCore

/// A part that a store has received.
package struct S3Part: Sendable, Hashable {
    /// 1 to ``S3UploadPlan/mostParts``.
    package var number: Int
    package var bytes: ByteCount
    /// Verbatim.
    var etag: String
    /// The SHA-256 in Base64.
    var checksum: String?

    init(number: Int, bytes: ByteCount, etag: String, checksum: String?) {
        self.number = number
        self.bytes = bytes
        self.etag = etag
        self.checksum = checksum
    }
}
