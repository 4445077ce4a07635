/// Texts that nobody can guess.
enum RandomText {
    /// So many bytes of the system's random numbers, as lower-case hexadecimal digits.
    static func hex(bytes count: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in hex(UInt8.random(in: 0...255, using: &generator)) }.joined()
    }

    /// A byte as two lower-case hexadecimal digits.
    static func hex(_ byte: UInt8) -> String { String(UInt16(byte) + 0x100, radix: 16).dropFirst().description }
}
