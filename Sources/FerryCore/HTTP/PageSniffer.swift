/// Detects from the first bytes of a body whether it is a web page.
///
/// Source: WHATWG MIME Sniffing, "Rules for identifying an unknown MIME type": the patterns of `text/html`. Unlike
/// browsers, the sniffer skips a byte order mark, an XML declaration and comments, because other formats may also start
/// with them.
package enum PageSniffer {
    package enum Verdict: Hashable, Sendable {
        case page
        case other
        /// More bytes are needed.
        case undecided
    }

    /// The number of bytes that are examined: a text without a pattern in them is not a page.
    package static let mostBytes = 4096

    /// Judges the first bytes of a body; `isWhole` is true if no more bytes follow.
    package static func judge(_ bytes: [UInt8], isWhole: Bool) -> Verdict {
        let isWhole = isWhole || bytes.count >= mostBytes
        let missing: Verdict = isWhole ? .other : .undecided
        if byteOrderMarks.contains(where: { bytes.count < $0.count && $0.starts(with: bytes) }) { return missing }
        var rest = text(bytes.prefix(mostBytes))[...]
        while true {
            rest = rest.drop(while: isWhiteSpace)
            if rest.isEmpty { return missing }
            let isCut: Bool
            if rest.starts(with: openings[0].utf8) {
                (rest, isCut) = dropping(through: "-->", of: rest.dropFirst(4))
            } else if rest.starts(with: openings[1].utf8) {
                (rest, isCut) = dropping(through: "?>", of: rest)
            } else if openings.contains(where: { $0.utf8.starts(with: rest) }) {
                return missing
            } else {
                break
            }
            if isCut { return missing }
        }
        let lower = rest.prefix(mostMark + 1).map(ASCII.lowercased)
        var isOpen = false
        for mark in marks {
            if lower.count > mark.utf8.count {
                if lower.starts(with: mark.utf8), isTagEnd(lower[mark.utf8.count]) { return .page }
            } else if mark.utf8.starts(with: lower) {
                isOpen = true
            }
        }
        return isOpen ? missing : .other
    }

    private static let byteOrderMarks: [[UInt8]] = [[0xEF, 0xBB, 0xBF], [0xFF, 0xFE], [0xFE, 0xFF]]
    /// Openings of a comment and an XML declaration.
    private static let openings = ["<!--", "<?xml"]
    private static let marks = [
        "<!doctype html", "<html", "<head", "<script", "<iframe", "<h1", "<div", "<font", "<table", "<a", "<style",
        "<title", "<b", "<body", "<br", "<p",
    ]
    private static let mostMark = marks.map(\.utf8.count).max() ?? 0

    /// Removes a byte order mark. For UTF-16, every other byte is kept, because the patterns are ASCII.
    private static func text(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Array(bytes.dropFirst(3)) }
        if bytes.starts(with: [0xFF, 0xFE]) { return stride(from: 2, to: bytes.count, by: 2).map { bytes[$0] } }
        if bytes.starts(with: [0xFE, 0xFF]) { return stride(from: 3, to: bytes.count, by: 2).map { bytes[$0] } }
        return Array(bytes)
    }

    /// Drops a comment or declaration; `isCut` is set if its end is not among the bytes.
    private static func dropping(
        through end: String, of bytes: ArraySlice<UInt8>
    ) -> (rest: ArraySlice<UInt8>, isCut: Bool) {
        guard let found = bytes.firstRange(of: end) else { return (bytes, true) }
        return (bytes[found.upperBound...], false)
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0C || byte == 0x0D
    }

    /// Whether the byte ends a tag name. A line end also does: `<p\n  align=…`.
    private static func isTagEnd(_ byte: UInt8) -> Bool { isWhiteSpace(byte) || byte == UInt8(ascii: ">") }
}

/// The media type of a Content-Type field, without parameters (RFC 9110 §8.3.1).
package struct MediaType: Hashable, Sendable, CustomStringConvertible {
    /// The type in lower case: `text`.
    package let type: String
    /// The subtype in lower case: `html`.
    package let subtype: String

    /// Returns `nil` unless the text before any parameters is two tokens separated by a slash.
    package init?(_ field: String) {
        let bytes = ASCII.trimmed(Array(field.utf8.prefix(1024).prefix { $0 != UInt8(ascii: ";") })[...])
        guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let (type, subtype) = (bytes[..<slash], bytes[(slash + 1)...])
        // A slash is not part of a token.
        guard [type, subtype].allSatisfy({ !$0.isEmpty && $0.allSatisfy(ASCII.isToken) }) else { return nil }
        self.type = String(decoding: type.map(ASCII.lowercased), as: UTF8.self)
        self.subtype = String(decoding: subtype.map(ASCII.lowercased), as: UTF8.self)
    }

    /// Whether the type is a web page's, as sent by captive portals and sign-in forms.
    package var isHTML: Bool {
        type == "text" && subtype == "html" || type == "application" && subtype == "xhtml+xml"
    }

    package var description: String { "\(type)/\(subtype)" }
}
