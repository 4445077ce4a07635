/// The width of text in terminal columns.
///
/// Source: Unicode Standard Annex #11 (East Asian Width W and F are two columns); nonspacing and enclosing marks and format
/// characters have width 0, as in `wcwidth`. Where terminals differ (emoji sequences), the larger width counts: a line that is too
/// short is harmless, but one that is too long wraps.
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

    /// Breaks a sentence into lines of at most `limit` columns, between words or wide characters, so that no number is
    /// shortened. A word that is longer than a line is broken anywhere.
    package static func wrap(_ text: String, to limit: Int) -> [String] {
        var lines: [String] = []
        var (line, used): ([Character], Int) = ([], 0)
        // The number of the line's characters before the last place where it may be broken.
        var breakable = 0
        func add(_ characters: some Sequence<Character>) {
            var text = String(characters)
            while text.utf8.last == UInt8(ascii: " ") { text.removeLast() }
            lines.append(text)
        }
        for character in text {
            let columns = columns(of: String(character))
            while used + columns > limit, !line.isEmpty, character != " " {
                let count = breakable > 0 ? breakable : line.count
                add(line.prefix(count))
                line.removeFirst(count)
                used = self.columns(of: String(line))
                breakable = 0
            }
            if line.isEmpty, character == " ", !lines.isEmpty { continue }
            line.append(character)
            used += columns
            if character == " " || columns == 2 { breakable = line.count }
        }
        if !line.isEmpty { add(line) }
        return lines
    }

    /// Shortens a sentence to at most `limit` columns by omitting its end. Never cuts within a number.
    package static func begin(_ text: String, to limit: Int) -> String {
        guard columns(of: text) > limit else { return text }
        let gap = limit >= 8 ? "..." : ""
        var (head, used) = ("", gap.count)
        for character in text {
            used += columns(of: String(character))
            guard used <= limit else {
                if isOfFigure(character) { while head.last.map(isOfFigure) == true { head.removeLast() } }
                break
            }
            head.append(character)
        }
        while head.utf8.last == UInt8(ascii: " ") { head.removeLast() }
        return head + gap
    }

    private static func isOfFigure(_ character: Character) -> Bool {
        guard let byte = character.asciiValue else { return false }
        return (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: ",")
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

/// Characters of East Asian Width W or F (UAX #11, Unicode 16), including unassigned ones of the CJK planes.
enum EastAsianWide {
    static func contains(_ value: UInt32) -> Bool {
        guard value >= 0x1100 else { return false }
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < value { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(value)
    }

    /// Ascending and disjoint.
    static let ranges: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0, 0x23F3...0x23F3,
        0x25FD...0x25FE, 0x2614...0x2615, 0x2630...0x2637, 0x2648...0x2653, 0x267F...0x267F, 0x268A...0x268F,
        0x2693...0x2693, 0x26A1...0x26A1, 0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5, 0x26CE...0x26CE,
        0x26D4...0x26D4, 0x26EA...0x26EA, 0x26F2...0x26F3, 0x26F5...0x26F5, 0x26FA...0x26FA, 0x26FD...0x26FD,
        0x2705...0x2705, 0x270A...0x270B, 0x2728...0x2728, 0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755,
        0x2757...0x2757, 0x2795...0x2797, 0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C, 0x2B50...0x2B50,
        0x2B55...0x2B55, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0xA4C6, 0xA960...0xA97C, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x16FE4,
        0x16FF0...0x16FF1, 0x17000...0x18CD5, 0x18CFF...0x18D08, 0x1AFF0...0x1AFFE, 0x1B000...0x1B2FB,
        0x1D300...0x1D356, 0x1D360...0x1D376, 0x1F004...0x1F004, 0x1F0CF...0x1F0CF, 0x1F18E...0x1F18E,
        0x1F191...0x1F19A, 0x1F200...0x1F202, 0x1F210...0x1F23B, 0x1F240...0x1F248, 0x1F250...0x1F251,
        0x1F260...0x1F265, 0x1F300...0x1F320, 0x1F32D...0x1F335, 0x1F337...0x1F37C, 0x1F37E...0x1F393,
        0x1F3A0...0x1F3CA, 0x1F3CF...0x1F3D3, 0x1F3E0...0x1F3F0, 0x1F3F4...0x1F3F4, 0x1F3F8...0x1F43E,
        0x1F440...0x1F440, 0x1F442...0x1F4FC, 0x1F4FF...0x1F53D, 0x1F54B...0x1F54E, 0x1F550...0x1F567,
        0x1F57A...0x1F57A, 0x1F595...0x1F596, 0x1F5A4...0x1F5A4, 0x1F5FB...0x1F64F, 0x1F680...0x1F6C5,
        0x1F6CC...0x1F6CC, 0x1F6D0...0x1F6D2, 0x1F6D5...0x1F6D7, 0x1F6DC...0x1F6DF, 0x1F6EB...0x1F6EC,
        0x1F6F4...0x1F6FC, 0x1F7E0...0x1F7EB, 0x1F7F0...0x1F7F0, 0x1F90C...0x1F93A, 0x1F93C...0x1F945,
        0x1F947...0x1F9FF, 0x1FA70...0x1FAFF, 0x20000...0x2FFFD, 0x30000...0x3FFFD,
    ]
}
