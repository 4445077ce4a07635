/// Incremental SHA-256 (FIPS 180-4), implemented here so that tests do not check the engine with its own library.
public struct SHA256Stream: Sendable {
    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    private var pending: [UInt8] = []
    private var length: UInt64 = 0

    /// Creates an empty hash.
    public init() {}

    private static let constants: [UInt32] = firstPrimes(64).map { root($0) }

    /// Returns the first 32 bits of the fractional part of a number's cube root, by integer search.
    private static func root(_ prime: UInt64) -> UInt32 {
        // The largest r with r³ ≤ prime·2⁹⁶ in 128 bits; r has at most 35 bits.
        let target = UInt128(prime) << 96
        var low: UInt128 = 0
        var high: UInt128 = 1 << 36
        while high - low > 1 {
            let middle = (low + high) / 2
            if middle * middle * middle <= target { low = middle } else { high = middle }
        }
        return UInt32(truncatingIfNeeded: low)
    }

    private static func firstPrimes(_ count: Int) -> [UInt64] {
        var primes: [UInt64] = []
        var candidate: UInt64 = 2
        while primes.count < count {
            if primes.allSatisfy({ candidate % $0 != 0 }) { primes.append(candidate) }
            candidate += 1
        }
        return primes
    }

    /// Adds bytes.
    public mutating func update(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            pending.append(byte)
            length += 1
            if pending.count == 64 {
                compress()
                pending.removeAll(keepingCapacity: true)
            }
        }
    }

    /// Returns the digest of all bytes so far.
    public func finished() -> [UInt8] {
        var copy = self
        let bits = length &* 8
        copy.update([0x80])
        while copy.pending.count != 56 { copy.update([0]) }
        copy.update((0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * $0)) })
        return copy.state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) } }
    }

    private mutating func compress() {
        var w = [UInt32](repeating: 0, count: 64)
        for i in 0..<16 { w[i] = (0..<4).reduce(0) { $0 << 8 | UInt32(pending[4 * i + $1]) } }
        for i in 16..<64 {
            let s0 = w[i - 15].rotated(right: 7) ^ w[i - 15].rotated(right: 18) ^ (w[i - 15] >> 3)
            let s1 = w[i - 2].rotated(right: 17) ^ w[i - 2].rotated(right: 19) ^ (w[i - 2] >> 10)
            w[i] = w[i - 16] &+ s0 &+ w[i - 7] &+ s1
        }
        var v = state
        for i in 0..<64 {
            let s1 = v[4].rotated(right: 6) ^ v[4].rotated(right: 11) ^ v[4].rotated(right: 25)
            let choice = (v[4] & v[5]) ^ (~v[4] & v[6])
            let first = v[7] &+ s1 &+ choice &+ Self.constants[i] &+ w[i]
            let s0 = v[0].rotated(right: 2) ^ v[0].rotated(right: 13) ^ v[0].rotated(right: 22)
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2])
            v = [first &+ s0 &+ majority, v[0], v[1], v[2], v[3] &+ first, v[4], v[5], v[6]]
        }
        for i in 0..<8 { state[i] = state[i] &+ v[i] }
    }
}
