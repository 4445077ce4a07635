import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The bytes of an endless file that nobody has to store: the byte at an offset depends on the seed and the offset alone.
///
/// A table of 256 KiB of random bytes belongs to each seed. Each chunk of 64 KiB is a slice of that table at a position
/// that depends on seed and chunk, and the first 8 bytes of each line of 64 bytes are replaced by a mix of seed and line.
/// So filling is a copy and one store per line (fast in debug builds too), the bytes look random, every line of a file
/// differs from every other line and from the same line under another seed, and bytes that landed at a wrong offset show.
public struct DeterministicBytes: Sendable, Hashable {
    /// Which file this is: two seeds differ in every line of 64 bytes.
    public let seed: UInt64
    private let table: Table

    static let lineSize: Int64 = 64
    static let chunkSize: Int64 = 65_536

    /// Makes the bytes of a seed; the table of a seed is shared.
    public init(seed: UInt64) {
        self.seed = seed
        table = Table.of(seed)
    }

    /// Compares the seeds, which decide everything.
    public static func == (left: Self, right: Self) -> Bool { left.seed == right.seed }

    /// Hashes the seed.
    public func hash(into hasher: inout Hasher) { hasher.combine(seed) }

    /// Writes the bytes `offset ..< offset + buffer.count` of the file into the buffer; a negative offset counts as 0.
    public func fill(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) {
        guard let base = buffer.baseAddress, !buffer.isEmpty else { return }
        var position = max(0, offset)
        var done = 0
        while done < buffer.count {
            let chunk = position / Self.chunkSize
            let inChunk = Int(position % Self.chunkSize)
            let count = min(buffer.count - done, Int(Self.chunkSize) - inChunk)
            let start = Int(mix(seed &+ 1, UInt64(chunk)) % UInt64(Table.spread))
            table.bytes.withUnsafeBytes { table in
                guard let source = table.baseAddress else { return }
                memcpy(base + done, source + start + inChunk, count)
            }
            stamp(base + done, count: count, at: position)
            done += count
            position += Int64(count)
        }
    }

    /// The bytes of a range, in memory: for small ranges.
    public func bytes(_ range: Range<Int64>) -> [UInt8] {
        let count = Int(range.upperBound - range.lowerBound)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            fill(UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count), at: range.lowerBound)
            initialized = count
        }
    }

    /// Puts the mix of seed and line over the first 8 bytes of each line that touches the buffer.
    private func stamp(_ base: UnsafeMutableRawPointer, count: Int, at offset: Int64) {
        var line = offset / Self.lineSize
        // Where the line starts, relative to the buffer: at or before its first byte.
        var at = Int(line * Self.lineSize - offset)
        while at < count {
            let mark = mix(seed, UInt64(line)).littleEndian
            if at >= 0, at + 8 <= count {
                base.storeBytes(of: mark, toByteOffset: at, as: UInt64.self)
            } else {
                for index in 0..<8 where at + index >= 0 && at + index < count {
                    base.storeBytes(
                        of: UInt8(truncatingIfNeeded: mark.littleEndian >> UInt64(8 * index)),
                        toByteOffset: at + index, as: UInt8.self)
                }
            }
            line += 1
            at += Int(Self.lineSize)
        }
    }

    /// SplitMix64's finalizer over two words.
    @inline(__always)
    private func mix(_ seed: UInt64, _ index: UInt64) -> UInt64 {
        var z = seed &* 0xD134_2543_DE82_EF95 &+ (index &+ 1) &* 0x9E37_79B9_7F4A_7C15
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// The random bytes of one seed.
    private final class Table: Sendable {
        /// Where a chunk may start in the table.
        static let spread = 262_144
        let bytes: [UInt64]

        private static let known = Mutex<[UInt64: Table]>([:])

        private init(seed: UInt64) {
            var state = seed ^ 0x5DEE_CE66_D1CE_4E5B
            let count = (Self.spread + Int(DeterministicBytes.chunkSize)) / 8
            bytes = [UInt64](unsafeUninitializedCapacity: count) { buffer, initialized in
                for index in 0..<count {
                    state = state &+ 0x9E37_79B9_7F4A_7C15
                    var z = state
                    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
                    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
                    buffer[index] = (z ^ (z >> 31)).littleEndian
                }
                initialized = count
            }
        }

        static func of(_ seed: UInt64) -> Table {
            if let table = known.withLock({ $0[seed] }) { return table }
            let table = Table(seed: seed)
            return known.withLock { known in
                if known.count >= 64 { known.removeAll() }
                known[seed] = table
                return table
            }
        }
    }
}
