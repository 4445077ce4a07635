package import FerryCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Copies ranges of one open file to the same offsets of another, and verifies the copy by reading it back.
struct FileCopy {
    let from: any File
    let to: any File
    /// Called before each piece; `false` stops the copy.
    let continues: () -> Bool

    enum Outcome: Sendable, Hashable {
        /// The ranges are synced and equal.
        case copied
        /// The bytes read back differ from the source.
        case differs
        /// `continues` returned `false`.
        case stopped
    }

    private static let pieceBytes: ByteCount = 1 << 20

    /// Copies the ranges, syncs the data, and compares. Blocks.
    func copy(_ ranges: [Range<ByteCount>]) throws(FileError) -> Outcome {
        for piece in Self.pieces(of: ranges) {
            guard continues() else { return .stopped }
            try to.write(try from.read(piece), at: piece.lowerBound)
        }
        try to.dataSync()
        for piece in Self.pieces(of: ranges) {
            guard continues() else { return .stopped }
            let (written, read) = (try to.read(piece), try from.read(piece))
            let isSame = written.withUnsafeBytes { one in
                read.withUnsafeBytes { other in
                    guard let left = one.baseAddress, let right = other.baseAddress else { return false }
                    return one.count == other.count && memcmp(left, right, one.count) == 0
                }
            }
            guard isSame else { return .differs }
        }
        return .copied
    }

    private static func pieces(of ranges: [Range<ByteCount>]) -> some Sequence<Range<ByteCount>> {
        ranges.lazy.flatMap { range in
            stride(from: range.lowerBound, to: range.upperBound, by: ByteCount.Stride(pieceBytes)).lazy.map { start in
                start..<min(range.upperBound, start + pieceBytes)
            }
        }
    }
}

/// The origin of a published file, as stored in its extended attribute.
package struct FileSource: Sendable, Hashable {
    /// The requested URL, with query; only its digest is stored.
    package var url: String
    /// The ETag, verbatim.
    package var etag: String?
    /// Last-Modified, verbatim.
    package var lastModified: String?
    /// The digest of the file, if it was computed.
    package var checksum: Checksum?

    package init(url: String, etag: String? = nil, lastModified: String? = nil, checksum: Checksum? = nil) {
        self.url = url
        self.etag = etag
        self.lastModified = lastModified
        self.checksum = checksum
    }
}
