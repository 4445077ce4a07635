/// An exact decimal number at the start of a text, and the text after it.
struct DecimalText {
    /// The integer part.
    let whole: UInt64
    /// The fraction in units of 10⁻¹⁸; further digits are dropped.
    let fraction: UInt64
    let hasFraction: Bool
    /// The text after the number, trimmed, in lower case.
    let suffix: String

    static let fractionScale: UInt64 = 1_000_000_000_000_000_000

    /// Parses `12`, `1.5`, `.5` and a suffix; `nil` if there is no digit or the integer part exceeds 64 bits.
    init?(_ text: String) {
        let bytes = Array(text.trimmedText.utf8)
        var position = 0
        var whole: UInt64 = 0
        var digits = 0
        while position < bytes.count, ASCII.isDigit(bytes[position]) {
            let (product, overflow) = whole.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt64(bytes[position] - 0x30))
            guard !overflow, !carry else { return nil }
            whole = sum
            digits += 1
            position += 1
        }
        var fraction: UInt64 = 0
        var scale = Self.fractionScale
        hasFraction = position < bytes.count && bytes[position] == UInt8(ascii: ".")
        if hasFraction {
            position += 1
            let first = position
            while position < bytes.count, ASCII.isDigit(bytes[position]) {
                scale /= 10
                fraction += UInt64(bytes[position] - 0x30) * scale
                position += 1
            }
            guard position > first else { return nil }
            digits += position - first
        }
        guard digits > 0 else { return nil }
        self.whole = whole
        self.fraction = fraction
        suffix = String(decoding: bytes[position...], as: UTF8.self).trimmedText.asciiLowercased
    }

    /// Returns the number times `unit`, rounded down; `nil` on overflow of Int64.
    func scaled(by unit: UInt64) -> Int64? {
        let (product, overflow) = whole.multipliedReportingOverflow(by: unit)
        let (high, low) = fraction.multipliedFullWidth(by: unit)
        // `fraction` is below the scale, so the quotient is below `unit` and the division cannot overflow.
        let part = Self.fractionScale.dividingFullWidth((high, low)).quotient
        let (sum, carry) = product.addingReportingOverflow(part)
        guard !overflow, !carry else { return nil }
        return Int64(exactly: sum)
    }
}
