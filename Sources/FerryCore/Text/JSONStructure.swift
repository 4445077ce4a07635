/// Checks of the nesting depth and the number of values of a JSON text, in a single pass before it is decoded.
package enum JSONStructure {
    /// Whether a text has at most `most` levels of nesting.
    package static func isShallow(_ text: some Sequence<UInt8>, depth most: Int) -> Bool {
        var depth = 0
        return visitMarks(of: text) { mark in
            switch mark {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            return depth <= most
        }
    }

    /// Returns the number of values and member names, with an empty array or object counted twice; `nil` if it exceeds `most`.
    package static func count(_ text: some Sequence<UInt8>, upTo most: Int) -> Int? {
        var count = 1
        let isWhole = visitMarks(of: text) { mark in
            switch mark {
            case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ","), UInt8(ascii: ":"): count += 1
            default: break
            }
            return count <= most
        }
        return isWhole ? count : nil
    }

    /// Calls `visit` with each byte outside strings, until it returns false. Returns false if `visit` did.
    private static func visitMarks(of text: some Sequence<UInt8>, _ visit: (UInt8) -> Bool) -> Bool {
        // Reading each byte through a generic sequence takes as long as decoding the text.
        text.withContiguousStorageIfAvailable { visitMarks(in: $0, visit) }
            ?? Array(text).withUnsafeBufferPointer { visitMarks(in: $0, visit) }
    }

    private static func visitMarks(in text: UnsafeBufferPointer<UInt8>, _ visit: (UInt8) -> Bool) -> Bool {
        var strings = JSONStrings()
        for byte in text where strings.isOutside(byte) && !visit(byte) { return false }
        return true
    }
}
