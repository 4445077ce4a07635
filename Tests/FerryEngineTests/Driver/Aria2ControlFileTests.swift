import FerryCore
import Testing

@testable import FerryEngine

@Suite("Control files of aria2") struct Aria2ControlFileTests {
    /// A control file with these numbers; pieces in flight are an index, a length and the bits of blocks.
    private func bytes(
        version: UInt8 = 1, hash: Int = 0, piece: UInt64 = 1 << 20, total: UInt64, bits: [UInt8],
        open: [(index: UInt64, length: UInt64, bits: [UInt8])] = []
    ) -> [UInt8] {
        func number(_ value: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
        }
        var bytes = [0, version] + number(0, 4) + number(UInt64(hash), 4) + [UInt8](repeating: 7, count: hash)
        bytes += number(piece, 4) + number(total, 8) + number(0, 8) + number(UInt64(bits.count), 4) + bits
        bytes += number(UInt64(open.count), 4)
        for one in open {
            bytes += number(one.index, 4) + number(one.length, 4) + number(UInt64(one.bits.count), 4) + one.bits
        }
        return bytes
    }

    private let mebi: ByteCount = 1 << 20

    @Test("Aria2ControlFile: whole pieces and blocks of pieces in flight are there, and the last one is cut")
    func ranges() throws {
        let file = try #require(
            Aria2ControlFile(
                bytes(
                    total: 10 << 20 | 5, bits: [0b1100_0001, 0b0010_0000],
                    open: [(9, 1 << 20, [0x80]), (3, 1 << 20, [0b1010_0000])])))
        #expect(file.totalBytes == 10 * mebi + 5)
        let block: ByteCount = 16_384
        #expect(
            file.ranges.pairs == [
                [0, 2 * mebi], [3 * mebi, 3 * mebi + block], [3 * mebi + 2 * block, 3 * mebi + 3 * block],
                [7 * mebi, 8 * mebi], [9 * mebi, 9 * mebi + block], [10 * mebi, 10 * mebi + 5],
            ])
    }

    /// Written by aria2 1.36 that was interrupted at 139,020 of 300,000 bytes.
    @Test("Aria2ControlFile: a file of aria2 itself is read")
    func real() throws {
        let file = try #require(
            Aria2ControlFile(bytes(total: 300_000, bits: [0], open: [(0, 300_000, [0xFF, 0, 0])])))
        #expect(file.ranges.pairs == [[0, 131_072]])
    }

    @Test("Aria2ControlFile: what is malformed, of a torrent or of another version is refused, at any cut")
    func malformed() {
        #expect(Aria2ControlFile(bytes(version: 0, total: 5, bits: [0x80])) == nil)
        #expect(Aria2ControlFile(bytes(hash: 20, total: 5, bits: [0x80])) == nil)
        #expect(Aria2ControlFile(bytes(piece: 0, total: 5, bits: [0x80])) == nil)
        #expect(Aria2ControlFile(bytes(total: 1 << 62, bits: [0x80])) == nil)
        #expect(Aria2ControlFile(bytes(total: .max, bits: [0x80])) == nil)
        #expect(Aria2ControlFile(bytes(total: 5, bits: [0x80, 0])) == nil)
        #expect(Aria2ControlFile(bytes(total: 5, bits: [0], open: [(1, 5, [0x80])])) == nil)
        #expect(Aria2ControlFile(bytes(total: 5, bits: [0], open: [(0, 1 << 21, [0x80])])) == nil)
        let whole = bytes(total: 5, bits: [0x80], open: [(0, 5, [0x80])])
        #expect(Aria2ControlFile(whole) != nil && Aria2ControlFile(whole + [0]) == nil)
        for count in whole.indices { #expect(Aria2ControlFile(Array(whole[..<count])) == nil, "\(count)") }
    }
}
