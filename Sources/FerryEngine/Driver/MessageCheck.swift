import FerryCore
import NIOCore

/// The running digest of one response's body (RFC 9530 §2), and the ranges that the response wrote.
struct MessageCheck {
    let expected: Checksum
    private var digest: RunningDigest
    /// The ranges that this response alone wrote.
    private(set) var written = RangeSet<ByteCount>()

    init(_ expected: Checksum) {
        self.expected = expected
        digest = RunningDigest(expected.algorithm)
    }

    /// Adds the next bytes of the body, including those that are not written.
    mutating func received(_ piece: ByteBuffer) { piece.withUnsafeReadableBytes { digest.update($0) } }

    mutating func wrote(_ range: Range<ByteCount>) { written.insert(contentsOf: range) }

    /// Returns the digest of the complete body, or `nil` if it is the expected one.
    func mismatch() -> Checksum? {
        let actual = digest.finish()
        return actual == expected.bytes ? nil : Checksum(algorithm: expected.algorithm, bytes: actual)
    }
}

extension ResponseVerdict {
    /// The digest that the body of this response must have; `nil` if the server sent no usable one.
    var messageDigest: Checksum? {
        switch self {
        case .whole(let representation), .part(_, let representation): representation.messageDigest
        default: nil
        }
    }
}
