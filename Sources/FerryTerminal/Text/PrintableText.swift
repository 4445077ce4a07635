/// Escapes characters in untrusted text that could control the terminal or hide the following text.
package enum PrintableText {
    /// Returns `\n`, `\t`, `\r`, `\x1b`, `\u{202e}` and the like for control characters, line separators and
    /// bidirectional controls.
    package static func escape(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar) {
                shown.append(contentsOf: escape(scalar).unicodeScalars)
            } else {
                shown.append(scalar)
            }
        }
        return String(shown)
    }

    /// Returns an equivalent line of JSON in which the same characters are JSON escape sequences. The line may come from an
    /// untrusted source, because in valid JSON such characters occur only within strings.
    package static func escapeJSON(_ line: String) -> String {
        guard line.unicodeScalars.contains(where: isUnsafe) else { return line }
        // Within strings an escape sequence is equivalent (RFC 8259 §7).
        return line.unicodeScalars.map { scalar in
            guard isUnsafe(scalar) else { return String(scalar) }
            return String(scalar).utf16.map { "\\u" + String(String(Int($0) + 0x10000, radix: 16).dropFirst()) }
                .joined()
        }.joined()
    }

    /// Whether a terminal might interpret this character instead of showing it.
    package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20..<0x7F: false
        case ..<0x20, 0x7F...0x9F: true
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF, 0xFFF9...0xFFFB: true
        case 0xE0000...0xE007F: true
        default: false
        }
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar.value {
        case 0x09: "\\t"
        case 0x0A: "\\n"
        case 0x0D: "\\r"
        case ..<0x10: "\\x0" + String(scalar.value, radix: 16)
        case ..<0x100: "\\x" + String(scalar.value, radix: 16)
        default: "\\u{" + String(scalar.value, radix: 16) + "}"
        }
    }
}
