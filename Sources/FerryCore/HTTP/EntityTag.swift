/// The value of an ETag field (RFC 9110 §8.8.3).
package struct EntityTag: Hashable, Sendable {
    /// What stands between the quotes.
    package let opaque: String
    /// Whether it says only that the files mean the same, not that their bytes are equal.
    package let isWeak: Bool

    /// Reads `"…"` or `W/"…"`; `nil` when it is unquoted, over 1 KiB, or has control bytes or quotes in it.
    ///
    /// A tag that was not UTF-8 (it arrives with U+FFFD in it) is `nil` too: it cannot be sent back as it was.
    /// Spaces are taken, as RFC 2616 allowed them.
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

    /// The value as a field has it.
    package var field: String { isWeak ? "W/\"\(opaque)\"" : "\"\(opaque)\"" }

    // String's own equality takes "é" and "e\u{301}" for one; tags are bytes.
    package static func == (lhs: EntityTag, rhs: EntityTag) -> Bool {
        lhs.isWeak == rhs.isWeak && lhs.opaque.utf8.elementsEqual(rhs.opaque.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(isWeak)
        hasher.combine(opaque)
    }
}
