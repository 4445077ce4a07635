/// Something that must hold of every answer of a parser, and did not for one input.
public struct BrokenPromise: Error, Sendable, Hashable, CustomStringConvertible {
    /// What should have held, with the values that show otherwise.
    public let description: String
}

/// Throws when what must hold does not; says why only then.
func promise(_ holds: Bool, _ words: @autoclosure () -> String) throws(BrokenPromise) {
    if !holds { throw BrokenPromise(description: words()) }
}

/// Texts for people are one line, without what would move a terminal's cursor.
func promiseOneLine(_ text: String) throws(BrokenPromise) {
    let isOneLine = text.unicodeScalars.allSatisfy { scalar in
        scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value) && !(0x2028...0x2029).contains(scalar.value)
    }
    try promise(isOneLine && !text.isEmpty, "not one line: \(text.debugDescription)")
}

/// What goes into a field of a request: no control byte but a tab, or it would become two fields.
func promiseFieldValue(_ text: String) throws(BrokenPromise) {
    try promise(
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 },
        "a control byte in a field: \(text.debugDescription)")
}
