package import FerryCore
package import NIOCore

/// The content of a request, which is read piece by piece while it is sent.
package struct UploadContent: Sendable {
    /// The length in bytes.
    package let length: ByteCount
    /// The SHA-256 in hexadecimal.
    package let sha256: String
    /// The maximum number of bytes that are read and sent at a time.
    package let pieceBytes: ByteCount
    /// Returns all bytes of a range of the content.
    let read: @Sendable (Range<ByteCount>) async throws -> ByteBuffer

    /// The default value of ``pieceBytes``.
    package static let mostPieceBytes: ByteCount = 256 << 10

    package init(
        length: ByteCount, sha256: String, pieceBytes: ByteCount = UploadContent.mostPieceBytes,
        read: @escaping @Sendable (Range<ByteCount>) async throws -> ByteBuffer
    ) {
        (self.length, self.sha256, self.pieceBytes, self.read) = (length, sha256, max(1, pieceBytes), read)
    }

    var pieces: UploadPieces { UploadPieces(content: self) }
}

/// The pieces of the content of a request, in order.
struct UploadPieces: AsyncSequence, Sendable {
    typealias Element = ByteBuffer
    let content: UploadContent

    struct AsyncIterator: AsyncIteratorProtocol {
        let content: UploadContent
        var offset: ByteCount = 0

        mutating func next() async throws -> ByteBuffer? {
            guard offset < content.length else { return nil }
            let range = offset..<Swift.min(content.length, offset + content.pieceBytes)
            offset = range.upperBound
            return try await content.read(range)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(content: content) }
}
