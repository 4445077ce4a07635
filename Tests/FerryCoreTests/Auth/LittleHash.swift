import FerryCore

/// MD5 (RFC 1321) and SHA-256 (FIPS 180-4), written out to check responses; the program uses other implementations.
enum LittleHash {
    static func digest(_ algorithm: DigestAlgorithm, _ bytes: [UInt8]) -> [UInt8] {
        algorithm == .md5 ? md5(bytes) : sha256(bytes)
    }

    private static func padded(_ bytes: [UInt8], bigEndian: Bool) -> [UInt8] {
        var message = bytes + [0x80]
        while message.count % 64 != 56 { message.append(0) }
        let bits = UInt64(bytes.count) * 8
        let shifts = Array(stride(from: UInt64(0), to: 64, by: 8))
        for shift in bigEndian ? shifts.reversed() : shifts { message.append(UInt8(truncatingIfNeeded: bits >> shift)) }
        return message
    }

    private static func md5(_ bytes: [UInt8]) -> [UInt8] {
        let shifts: [[UInt32]] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]]
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476]
        let message = padded(bytes, bigEndian: false)
        for block in stride(from: 0, to: message.count, by: 64) {
            let words = (0..<16).map { word in
                (0..<4).reduce(UInt32(0)) { $0 | UInt32(message[block + word * 4 + $1]) << UInt32($1 * 8) }
            }
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            for step in 0..<64 {
                let (mix, index): (UInt32, Int) =
                    switch step / 16 {
                    case 0: ((b & c) | (~b & d), step)
                    case 1: ((d & b) | (~d & c), (5 * step + 1) % 16)
                    case 2: (b ^ c ^ d, (3 * step + 5) % 16)
                    default: (c ^ (b | ~d), 7 * step % 16)
                    }
                let sum = a &+ mix &+ sines[step] &+ words[index]
                let shift = shifts[step / 16][step % 4]
                (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
            }
            state = [state[0] &+ a, state[1] &+ b, state[2] &+ c, state[3] &+ d]
        }
        return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32($0 * 8)) } }
    }

    private static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var state = primes.prefix(8).map { fraction(Double($0).squareRoot()) }
        let message = padded(bytes, bigEndian: true)
        let rotate = { (word: UInt32, by: UInt32) in word >> by | word << (32 - by) }
        for block in stride(from: 0, to: message.count, by: 64) {
            var words = (0..<16).map { word in
                (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(message[block + word * 4 + $1]) }
            }
            for index in 16..<64 {
                let (first, second) = (words[index - 15], words[index - 2])
                let low = rotate(first, 7) ^ rotate(first, 18) ^ (first >> 3)
                let high = rotate(second, 17) ^ rotate(second, 19) ^ (second >> 10)
                words.append(words[index - 16] &+ low &+ words[index - 7] &+ high)
            }
            var v = state
            for step in 0..<64 {
                let high = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)
                let choice = (v[4] & v[5]) ^ (~v[4] & v[6])
                let first = v[7] &+ high &+ choice &+ roundConstants[step] &+ words[step]
                let low = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)
                let second = low &+ ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]))
                v = [first &+ second, v[0], v[1], v[2], v[3] &+ first, v[4], v[5], v[6]]
            }
            for index in 0..<8 { state[index] &+= v[index] }
        }
        return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - $0 * 8)) } }
    }

    private static let primes: [UInt64] = {
        var primes: [UInt64] = []
        var candidate: UInt64 = 2
        while primes.count < 64 {
            if primes.allSatisfy({ !candidate.isMultiple(of: $0) }) { primes.append(candidate) }
            candidate += 1
        }
        return primes
    }()

    private static func fraction(_ value: Double) -> UInt32 { UInt32((value - value.rounded(.down)) * 4_294_967_296) }

    /// The first 32 bits of the fractions of cube roots, by whole numbers.
    private static let roundConstants: [UInt32] = primes.map { prime in
        var low: UInt64 = 0
        var high: UInt64 = 7 << 32
        while high - low > 1 {
            let middle = (low + high) / 2
            let root = Double(middle) / 4_294_967_296
            if root * root * root <= Double(prime) { low = middle } else { high = middle }
        }
        return UInt32(truncatingIfNeeded: low)
    }

    /// |sin(i)| · 2³², by the sum and product of sines from a series.
    private static let sines: [UInt32] = (1...64).map { step in
        var angle = Double(step)
        while angle > Double.pi { angle -= 2 * Double.pi }
        var term = angle
        var sum = angle
        for index in stride(from: 2.0, to: 60, by: 2) {
            term *= -angle * angle / (index * (index + 1))
            sum += term
        }
        return UInt32(sum.magnitude * 4_294_967_296)
    }
}
