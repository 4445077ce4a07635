package import FerryCore
package import NIOCore

/// The content of a request, which is read piece by piece while it is sent.
package struct UploadContent: Sendable {
    /// The length in bytes.
    package let length: ByteCount
    /// The SHA-256 in hexadecimal.
    package let sha256: String
    /// Returns all bytes of a range of the content.
    let read: @Sendable (Range<ByteCount>) async throws -> ByteBuffer

    package init(
        length: ByteCount, sha256: String, read: @escaping @Sendable (Range<ByteCount>) async throws -> ByteBuffer
    ) {
        self.length = length
        self.sha256 = sha256
        self.read = read
    }

    var pieces: UploadPieces { UploadPieces(content: self) }
}

/// The pieces of a content, in order.
struct UploadPieces: AsyncSequence, Sendable {
    typealias Element = ByteBuffer
    let content: UploadContent

    /// The size of a piece.
    private static let pieceBytes: ByteCount = 256 << 10

    struct AsyncIterator: AsyncIteratorProtocol {
        let content: UploadContent
        var offset: ByteCount = 0

        mutating func next() async throws -> ByteBuffer? {
            guard offset < content.length else { return nil }
            let range = offset..<Swift.min(content.length, offset + UploadPieces.pieceBytes)
            offset = range.upperBound
            return try await content.read(range)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(content: content) }
}
