package import FerryCore

/// The control file that aria2 keeps next to an unfinished file, as `NAME.aria2`. It records which bytes aria2 has
/// written.
///
/// Format: aria2's technical notes, version 1, numbers in network byte order: version (2 bytes), extension (4), length
/// of an info hash (4), piece length (4), total length (8), upload length (8), length of the bit field (4), bit field,
/// number of pieces in flight (4), then for each piece its index (4), length (4), length of its bit field (4) and bit
/// field, one bit for each block of 16 KiB.
package struct Aria2ControlFile: Sendable, Hashable {
    /// The maximum size of a control file, in bytes.
    static let mostBytes = 1 << 20
    private static let blockBytes: ByteCount = 16 << 10

    package let totalBytes: ByteCount
    package let ranges: RangeSet<ByteCount>

    /// Parses a control file; `nil` if it is malformed or belongs to a torrent.
    package init?(_ bytes: [UInt8]) {
        var reader = Reader(bytes: bytes[...])
        guard bytes.count <= Self.mostBytes, reader.number(2) == 1, reader.number(4) != nil,
            // The bytes of a torrent belong to several files.
            reader.number(4) == 0,
            let piece = reader.number(4), piece > 0, let total = reader.number(8), total.isSize,
            reader.number(8) != nil, let pieces = reader.bits()
        else { return nil }
        totalBytes = total
        let pieceCount = (total + piece - 1) / piece
        guard pieces.count == Int((pieceCount + 7) / 8) else { return nil }
        var found = Self.ranges(pieces, of: piece, from: 0, to: total)
        guard let open = reader.number(4) else { return nil }
        for _ in 0..<open {
            guard let index = reader.number(4), index < pieceCount, let length = reader.number(4), length <= piece,
                let blocks = reader.bits()
            else { return nil }
            found += Self.ranges(
                blocks, of: Self.blockBytes, from: index * piece, to: min(total, index * piece + length))
        }
        guard reader.bytes.isEmpty else { return nil }
        // Sorted first, because inserting a range in the middle would move all later ranges.
        found.sort { $0.lowerBound < $1.lowerBound }
        ranges = RangeSet(found)
    }

    /// Returns the ranges of the units whose bits are set, within the bounds. The highest bit of the first byte stands
    /// for the first unit.
    private static func ranges(
        _ bits: ArraySlice<UInt8>, of unit: ByteCount, from start: ByteCount, to end: ByteCount
    ) -> [Range<ByteCount>] {
        var found: [Range<ByteCount>] = []
        for (index, byte) in bits.enumerated() where byte != 0 {
            for bit in 0..<8 where byte & (0x80 >> UInt8(bit)) != 0 {
                let lower = start + ByteCount(8 * index + bit) * unit
                guard lower < end else { return found }
                if let last = found.last, last.upperBound == lower {
                    found[found.count - 1] = last.lowerBound..<min(end, lower + unit)
                } else {
                    found.append(lower..<min(end, lower + unit))
                }
            }
        }
        return found
    }

    private struct Reader {
        var bytes: ArraySlice<UInt8>

        /// Returns the number in the next bytes, at most 8; `nil` at the end and for a number of 2^63 or more.
        mutating func number(_ count: Int) -> ByteCount? {
            guard bytes.count >= count else { return nil }
            defer { bytes = bytes.dropFirst(count) }
            return ByteCount(exactly: bytes.prefix(count).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        }

        /// Returns a bit field that is preceded by its length.
        mutating func bits() -> ArraySlice<UInt8>? {
            guard let count = number(4), count <= bytes.count else { return nil }
            defer { bytes = bytes.dropFirst(Int(count)) }
            return bytes.prefix(Int(count))
        }
    }
}
