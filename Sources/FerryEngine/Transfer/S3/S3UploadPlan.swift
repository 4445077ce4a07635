import FerryCore

/// The division of a file into the parts of a multipart upload.
package struct S3UploadPlan: Sendable, Hashable {
    /// The maximum number of parts that a store accepts.
    package static let mostParts = 10_000
    /// Files smaller than this are uploaded whole.
    static let leastBytes: ByteCount = 8 << 20
    /// The maximum size of an object.
    static let mostBytes: ByteCount = 5 << 40
    private static let step: ByteCount = 1 << 20

    let totalBytes: ByteCount
    /// The size of all parts except the last.
    let partBytes: ByteCount

    /// Returns `nil` for a file that exceeds the maximum size of an object.
    init?(totalBytes: ByteCount) {
        guard totalBytes >= 0, totalBytes <= Self.mostBytes else { return nil }
        let least = (totalBytes + ByteCount(Self.mostParts) - 1) / ByteCount(Self.mostParts)
        self.totalBytes = totalBytes
        partBytes = max(Self.leastBytes, (least + Self.step - 1) / Self.step * Self.step)
    }

    /// The number of parts, 1 or more.
    var count: Int { max(1, Int((totalBytes + partBytes - 1) / partBytes)) }

    /// The bytes of a part, numbered from 1.
    func range(of part: Int) -> Range<ByteCount> {
        let start = ByteCount(part - 1) * partBytes
        return start..<min(totalBytes, start + partBytes)
    }
}
