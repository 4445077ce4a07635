import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The bytes of an infinite generated file: each byte depends only on the seed and its offset.
///
/// Each seed has a table of 256 KiB of random bytes. Each chunk of 64 KiB is a slice of that table at a position that
/// depends on seed and chunk, and the first 8 bytes of each line of 64 bytes are replaced by a hash of seed and line.
/// Filling is therefore a copy and one store per line (fast in debug builds too). Every line differs from all other
/// lines and from the same line of another seed, so bytes at a wrong offset are detected.
public struct DeterministicBytes: Sendable, Hashable {
    /// The identity of the file: two seeds differ in every line of 64 bytes.
    public let seed: UInt64
    private let table: Table

    static let lineSize: Int64 = 64
    static let chunkSize: Int64 = 65_536

    /// Creates the bytes of a seed. The table of a seed is shared.
    public init(seed: UInt64) {
        self.seed = seed
        table = Table.of(seed)
    }

    /// Compares the seeds, which determine all bytes.
    public static func == (left: Self, right: Self) -> Bool { left.seed == right.seed }

    /// Hashes the seed.
    public func hash(into hasher: inout Hasher) { hasher.combine(seed) }

    /// Writes the bytes `offset ..< offset + buffer.count` of the file to the buffer; a negative offset counts as 0.
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

    /// Returns the bytes of a small range.
    public func bytes(_ range: Range<Int64>) -> [UInt8] {
        let count = Int(range.upperBound - range.lowerBound)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            fill(UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count), at: range.lowerBound)
            initialized = count
        }
    }

    /// Overwrites the first 8 bytes of each line in the buffer with the hash of seed and line.
    private func stamp(_ base: UnsafeMutableRawPointer, count: Int, at offset: Int64) {
        var line = offset / Self.lineSize
        // The start of the line relative to the buffer: at or before its first byte.
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

    /// SplitMix64's finalizer, applied to two words.
    @inline(__always)
    private func mix(_ seed: UInt64, _ index: UInt64) -> UInt64 {
        var z = seed &* 0xD134_2543_DE82_EF95 &+ (index &+ 1) &* 0x9E37_79B9_7F4A_7C15
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// The random bytes of one seed.
    private final class Table: Sendable {
        /// The number of positions at which a chunk may start.
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
