import Ferry
import Testing

/// Reads content to its end.
func read(_ bytes: DownloadContent.Bytes) async throws -> [UInt8] {
    var all: [UInt8] = []
    for try await piece in bytes {
        #expect(piece.count <= 256 << 10)
        all += piece
    }
    return all
}
