/// The value of an ETag field (RFC 9110 §8.8.3).
package struct EntityTag: Hashable, Sendable {
    /// The opaque tag, without its quotes.
    package let opaque: String
    /// Whether the validator is weak: equal weak tags mean equivalent representations, not byte-for-byte equal ones.
    package let isWeak: Bool

    /// Parses `"…"` or `W/"…"`; `nil` if the tag is unquoted, longer than 1 KiB, or contains control bytes or quotes.
    ///
    /// A tag that was not UTF-8 (it contains U+FFFD) is also `nil`, because it cannot be sent back unchanged. Spaces
    /// are accepted, as RFC 2616 permitted them.
    package init?(_ field: String) {
        guard field.utf8.count <= 1024 else { return nil }
        var bytes = ASCII.trimmed(Array(field.utf8)[...])
        isWeak = bytes.starts(with: "W/".utf8)
        if isWeak { bytes = bytes.dropFirst(2) }
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else { return nil }
        let inner = bytes.dropFirst().dropLast()
        guard inner.allSatisfy({ !ASCII.isControl($0) && $0 != UInt8(ascii: "\"") }) else { return nil }
        let text = String(decoding: inner, as: UTF8.self)
        guard !text.unicodeScalars.contains("\u{FFFD}") else { return nil }
        opaque = text
    }

    /// The field value.
    package var field: String { isWeak ? "W/\"\(opaque)\"" : "\"\(opaque)\"" }

    // `String` equality treats canonically equivalent texts as equal; tags are compared by bytes.
    package static func == (lhs: EntityTag, rhs: EntityTag) -> Bool {
        lhs.isWeak == rhs.isWeak && lhs.opaque.utf8.elementsEqual(rhs.opaque.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(isWeak)
        hasher.combine(opaque)
    }
}
