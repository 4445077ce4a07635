/// Texts that nobody can guess.
enum RandomText {
    /// So many bytes of the system's random numbers, as lower-case hexadecimal digits.
    static func hex(bytes count: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        var text = ""
        for _ in 0..<count {
            let digits = String(UInt8.random(in: 0...255, using: &generator), radix: 16)
            text += digits.utf8.count == 1 ? "0" + digits : digits
        }
        return text
    }
}
