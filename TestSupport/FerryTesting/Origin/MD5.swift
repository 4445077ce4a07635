#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// MD5 (RFC 1321), for Digest authentication only.
package enum MD5 {
    private static let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]
    private static let constants: [UInt32] = (0..<64).map { UInt32((sin(Double($0 + 1))).magnitude * 4_294_967_296) }

    /// Returns the digest of a text in hexadecimal.
    package static func hex(_ text: String) -> String {
        var message = Array(text.utf8)
        let bits = UInt64(message.count) * 8
        message.append(0x80)
        while message.count % 64 != 56 { message.append(0) }
        message += (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) }
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]
        for start in stride(from: 0, to: message.count, by: 64) {
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            for i in 0..<64 {
                let (f, g): (UInt32, Int) =
                    switch i / 16 {
                    case 0: ((b & c) | (~b & d), i)
                    case 1: ((d & b) | (~d & c), (5 * i + 1) % 16)
                    case 2: (b ^ c ^ d, (3 * i + 5) % 16)
                    default: (c ^ (b | ~d), (7 * i) % 16)
                    }
                let at = start + 4 * g
                let word = (0..<4).reduce(UInt32(0)) { $0 | UInt32(message[at + $1]) << UInt32(8 * $1) }
                let sum = a &+ f &+ constants[i] &+ word
                (a, d, c) = (d, c, b)
                b = b &+ sum.rotated(right: 32 - shifts[i / 16 * 4 + i % 4])
            }
            for (i, word) in [a, b, c, d].enumerated() { state[i] = state[i] &+ word }
        }
        return Hex.text(state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(8 * $0)) } })
    }
}
