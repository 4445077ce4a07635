extension DownloadURL {
    /// Returns the text for an error message: quoted, shortened, without user info, query and fragment.
    ///
    /// Since the text may not be a URL, more than necessary is removed: everything up to the last `@`.
    static func quoted(_ text: String) -> String { "\"\(excerpt(Array(text.utf8.prefix(4096))[...]))\"" }

    static func excerpt(_ bytes: ArraySlice<UInt8>) -> String {
        let cut = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
        let tail = cut == bytes.endIndex ? "" : bytes[cut] == UInt8(ascii: "?") ? "?…" : "#…"
        guard let at = bytes.lastIndex(of: UInt8(ascii: "@")) else { return shown(bytes[..<cut]) + tail }
        let scheme = splitScheme(bytes).flatMap { Scheme(rawValue: $0.name) }.map { "\($0.rawValue)://" } ?? ""
        // An `@` after a `?` may end a password with a raw `?`, or be part of the query: both stay hidden.
        guard at < cut else { return scheme + "…" }
        return scheme + "…@" + shown(bytes[(at + 1)..<cut]) + tail
    }

    /// Returns at most 200 characters, trimmed, with invisible ones replaced.
    private static func shown(_ bytes: ArraySlice<UInt8>) -> String {
        var visible = ""
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                let isBlank = scalar.value < 0x80 && ASCII.isWhiteSpace(UInt8(scalar.value))
                visible.append(isBlank ? " " : "\u{FFFD}")
            default: visible.unicodeScalars.append(scalar)
            }
        }
        guard let first = visible.firstIndex(where: { $0 != " " }), let last = visible.lastIndex(where: { $0 != " " })
        else { return "" }
        let text = visible[first...last]
        return text.count > 200 ? text.prefix(200) + "…" : String(text)
    }
}
