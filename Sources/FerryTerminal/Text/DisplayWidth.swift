/// The width of text in terminal columns.
///
/// Source: Unicode Standard Annex #11 (East Asian Width W and F are two columns); marks and format characters have
/// width 0, as in `wcwidth`. Where terminals differ (emoji sequences), the larger width counts: a line that is too
/// short is harmless, one that is too long wraps.
package enum DisplayWidth {
    /// Returns the width of a text without control characters.
    package static func columns(of text: some StringProtocol) -> Int {
        var columns = 0
        for scalar in text.unicodeScalars { columns += self.columns(of: scalar) }
        return columns
    }

    /// Returns 0, 1 or 2.
    package static func columns(of scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        if value < 0x300 { return value == 0 ? 0 : 1 }
        // VARIATION SELECTOR-16 turns the preceding character into an emoji of two columns.
        if value == 0xFE0F { return 1 }
        if 0x1160...0x11FF ~= value || 0xD7B0...0xD7FF ~= value { return 0 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator, .paragraphSeparator: return 0
        default: return EastAsianWide.contains(value) ? 2 : 1
        }
    }

    /// Shortens a text in the middle to at most `limit` columns, so that its end with the extension remains.
    ///
    /// Keeps characters whole. The omission is shown as `...` if there is space.
    package static func fit(_ text: String, to limit: Int) -> String {
        guard columns(of: text) > limit else { return text }
        let gap = limit >= 8 ? "..." : ""
        let room = max(0, limit - gap.count)
        let tailRoom = gap.isEmpty ? 0 : room / 2
        var tail: [Character] = []
        var used = 0
        for character in text.reversed() {
            let columns = columns(of: String(character))
            guard used + columns <= tailRoom else { break }
            used += columns
            tail.append(character)
        }
        var head = ""
        for character in text {
            let columns = columns(of: String(character))
            guard used + columns <= room else { break }
            used += columns
            head.append(character)
        }
        return head + gap + String(tail.reversed())
    }

    /// Shortens or right-pads the text to exactly `width` columns.
    package static func pad(_ text: String, to width: Int) -> String {
        let fitted = fit(text, to: width)
        return fitted + String(repeating: " ", count: max(0, width - columns(of: fitted)))
    }

    /// Left-pads the text to at least `width` columns; never shortens it.
    package static func padLeft(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - columns(of: text))) + text
    }
}
