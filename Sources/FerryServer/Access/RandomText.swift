/// Unpredictable strings for tokens, codes and temporary names.
enum RandomText {
    /// Returns `count` bytes from the system's random number generator, as lower-case hexadecimal digits.
    static func hex(bytes count: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in hex(UInt8.random(in: 0...255, using: &generator)) }.joined()
    }

    /// Returns a byte as two lower-case hexadecimal digits.
    static func hex(_ byte: UInt8) -> String { String(UInt16(byte) + 0x100, radix: 16).dropFirst().description }
}
