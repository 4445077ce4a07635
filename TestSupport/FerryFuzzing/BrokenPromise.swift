/// An invariant of a parser's result that does not hold for some input.
public struct BrokenPromise: Error, Sendable, Hashable, CustomStringConvertible {
    /// The invariant, with the values that violate it.
    public let description: String
}

/// Throws if the condition does not hold; evaluates the description only then.
func promise(_ holds: Bool, _ words: @autoclosure () -> String) throws(BrokenPromise) {
    if !holds { throw BrokenPromise(description: words()) }
}

/// Requires a single non-empty line without characters that move the cursor of a terminal.
func promiseOneLine(_ text: String) throws(BrokenPromise) {
    let isOneLine = text.unicodeScalars.allSatisfy { scalar in
        scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value) && !(0x2028...0x2029).contains(scalar.value)
    }
    try promise(isOneLine && !text.isEmpty, "not one line: \(text.debugDescription)")
}

/// Requires a valid request field value: no control byte except tab, as a line break would start another field.
func promiseFieldValue(_ text: String) throws(BrokenPromise) {
    try promise(
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 },
        "a control byte in a field: \(text.debugDescription)")
}
