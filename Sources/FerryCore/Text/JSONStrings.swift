/// Distinguishes the strings of a JSON text (RFC 8259 §7) from the tokens around them, byte by byte.
package struct JSONStrings: Sendable {
    private var isInside = false
    private var isEscaped = false

    package init() {}

    /// Processes the next byte and returns whether it is outside strings. Quotation marks belong to strings.
    package mutating func isOutside(_ byte: UInt8) -> Bool {
        if isEscaped {
            isEscaped = false
            return false
        }
        switch byte {
        case UInt8(ascii: "\""):
            isInside.toggle()
            return false
        case UInt8(ascii: "\\") where isInside:
            isEscaped = true
            return false
        default: return !isInside
        }
    }
}
