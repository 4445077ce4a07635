import FerryCore
import NIOCore

/// The digest of one answer (RFC 9530 §2), which follows its body while that comes, and what of the body was written.
struct MessageCheck {
    let expected: Checksum
    private var digest: RunningDigest
    /// What this answer brought, and nobody else.
    private(set) var written = RangeSet<ByteCount>()

    init(_ expected: Checksum) {
        self.expected = expected
        digest = RunningDigest(expected.algorithm)
    }

    /// The next bytes of the body, those that are not wanted too.
    mutating func received(_ piece: ByteBuffer) { piece.withUnsafeReadableBytes { digest.update($0) } }

    mutating func wrote(_ range: Range<ByteCount>) { written.insert(contentsOf: range) }

    /// The digest that the body has, at its end; `nil` when it is the expected one.
    func mismatch() -> Checksum? {
        let actual = digest.finish()
        return actual == expected.bytes ? nil : Checksum(algorithm: expected.algorithm, bytes: actual)
    }
}

extension ResponseVerdict {
    /// The digest that the body of this answer must have; `nil` when the server says none that counts.
    var messageDigest: Checksum? {
        switch self {
        case .whole(let representation), .part(_, let representation): representation.messageDigest
        default: nil
        }
    }
}
