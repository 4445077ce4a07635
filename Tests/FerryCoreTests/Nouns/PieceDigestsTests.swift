import FerryCore
import Foundation
import Testing

@Suite("Digests of pieces")
struct PieceDigestsTests {
    private static func make(_ count: Int, pieceBytes: ByteCount = 10) -> PieceDigests? {
        PieceDigests(
            algorithm: .md5, pieceBytes: pieceBytes, digests: (0..<count * 16).map { UInt8(truncatingIfNeeded: $0) })
    }

    @Test("PieceDigests: they cover a file whose last piece is shorter, and no other")
    func cover() throws {
        let pieces = try #require(Self.make(3))
        #expect((0...40).filter { pieces.cover($0) } == Array(21...30))
        #expect((0..<3).map { pieces.range(of: $0, total: 25) } == [0..<10, 10..<20, 20..<25])
        #expect(pieces.digest(of: 1).elementsEqual(16..<32))
        let large = try #require(Self.make(1, pieceBytes: .bound - 1))
        #expect(large.cover(1) && large.cover(.bound - 1) && !large.cover(.bound))
    }

    @Test("PieceDigests: values out of bounds are none")
    func bounds() {
        #expect(Self.make(0) == nil && Self.make(PieceDigests.mostPieces) != nil)
        #expect(Self.make(PieceDigests.mostPieces + 1) == nil)
        #expect(Self.make(1, pieceBytes: 0) == nil && Self.make(1, pieceBytes: .bound) == nil)
        #expect(PieceDigests(algorithm: .sha1, pieceBytes: 1, digests: Array(0..<16)) == nil)
    }

    @Test("PieceDigests: coded as an object, and refused when it is none of pieces")
    func coding() throws {
        let pieces = try #require(Self.make(2))
        #expect(try JSONDecoder().decode(PieceDigests.self, from: JSONEncoder().encode(pieces)) == pieces)
        for digests in ["", "00", "zz" + String(repeating: "0", count: 30)] {
            let text = #"{"algorithm":"md5","pieceBytes":10,"digests":"\#(digests)"}"#
            let error = #expect(throws: DownloadError.self) {
                try JSONDecoder().decode(PieceDigests.self, from: Data(text.utf8))
            }
            #expect(error?.code == .invalidRequest)
        }
    }
}
