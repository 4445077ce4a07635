/// Makes file names suggested by servers and URLs safe for every file system and for Ferry's own files.
///
/// The steps, in this order:
/// - keep the text after the last `/` or `\`;
/// - replace control, format (bidirectional, zero-width, …) and noncharacters, line separators, U+FFFD and `<>:"|?*` by
///   `_`, except joiners (U+200C, U+200D) between characters that they visibly join or separate;
/// - drop outer white space and trailing dots; replace a leading dash or dot by `_`;
/// - put a `_` before a leading combining mark;
/// - append a `_` to Windows device names: `con.txt` becomes `con_.txt`;
/// - append a `_` to names that Ferry reserves, such as those of part files and records (``ReservedName``);
/// - cut a name longer than ``maxBytes`` at a character boundary, keeping the extension.
package enum SafeName {
    /// The maximum length in bytes: with ` (999)` and ``ReservedName/longestSuffix`` appended, the name fits into 255.
    package static let maxBytes = 255 - " (999)".utf8.count - ReservedName.longestSuffix.utf8.count

    /// Returns the name of a download: the suggestion, otherwise the last segment of the URL, otherwise that of the
    /// final URL, otherwise `download`.
    ///
    /// A candidate is skipped if sanitizing removes all of it.
    package static func make(_ suggested: String?, url: DownloadURL, finalURL: DownloadURL?) -> String {
        suggested.flatMap(sanitize) ?? name(of: url) ?? finalURL.flatMap(name) ?? "download"
    }

    /// Makes a name safe; `nil` if nothing is left, for example for `..`, `/` and the empty name.
    ///
    /// Idempotent.
    package static func sanitize(_ name: String) -> String? { isPlain(name) ? name : mended(name) }

    /// The slow path of ``sanitize(_:)``.
    static func mended(_ name: String) -> String? {
        let segment = name.utf8.split(
            omittingEmptySubsequences: false, whereSeparator: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
        ).last
        guard let segment else { return nil }
        var current = replacingUnsafe(String(decoding: segment, as: UTF8.self))
        // Cutting can produce an unsafe ending, and repairing it can make the name too long again.
        for _ in 0..<8 {
            let next = cut(mendingEnds(of: current), to: maxBytes)
            if next.isEmpty { return nil }
            if next.utf8.elementsEqual(current.utf8) { return next }
            current = next
        }
        return nil
    }

    /// Returns the n-th alternative to a name that is in use: `name (2).ext`; preceding path components are kept.
    ///
    /// The name is cut if it leaves no room for ``ReservedName/longestSuffix``.
    package static func numbered(_ name: String, _ n: Int) -> String {
        let start = name.utf8.lastIndex(of: UInt8(ascii: "/")).map { name.utf8.index(after: $0) } ?? name.startIndex
        let parts = FileExtension.split(String(name[start...]))
        let number = " (\(n))"
        let room = 255 - ReservedName.longestSuffix.utf8.count - number.utf8.count - parts.suffix.utf8.count
        return name[..<start] + prefix(of: parts.stem, bytes: max(room, 1)) + number + parts.suffix
    }

    private static func name(of url: DownloadURL) -> String? {
        let bytes = url.lastPathSegment
        return sanitize(NameText.decode(bytes) ?? NameText.latin1(bytes))
    }
}

// MARK: Steps

extension SafeName {
    /// Whether the bytes of the name already show that it is safe. This fast path covers nearly every name, and most
    /// names are checked repeatedly.
    ///
    /// May be false for a safe name.
    static func isPlain(_ name: String) -> Bool {
        var name = name
        return name.withUTF8 { bytes in
            guard let first = bytes.first, let last = bytes.last, bytes.count <= maxBytes,
                first != UInt8(ascii: "-"), first != UInt8(ascii: "."), last != UInt8(ascii: "."),
                bytes.allSatisfy(isPlain)
            else { return false }
            // Device names are reserved with any extension.
            let stem = bytes.firstIndex(of: UInt8(ascii: ".")) ?? bytes.count
            if stem <= 7, [0x61, 0x63, 0x6C, 0x6E, 0x70].contains(first | 0x20) { return false }
            return true
        } && ReservedName(name) == nil
    }

    /// Whether the byte is a letter, a digit or punctuation that is never changed inside a name; white space is not.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "+"): true
        default: ASCII.isLetter(byte) || ASCII.isDigit(byte)
        }
    }

    /// Replaces unsafe characters by `_`; with `keepsPunctuation`, characters that only other systems refuse are kept.
    static func replacingUnsafe(_ name: String, keepsPunctuation: Bool = false) -> String {
        var output = String.UnicodeScalarView()
        let scalars = name.unicodeScalars
        for index in scalars.indices {
            let next = scalars.index(after: index)
            let isShaping =
                isJoiner(scalars[index]) && output.last.map(isShaped) == true
                && next < scalars.endIndex && isShaped(scalars[next])
            let isKept = isShaping || keepsPunctuation && isPunctuation(scalars[index])
            output.append(isUnsafe(scalars[index]) && !isKept ? "_" : scalars[index])
        }
        return String(output)
    }

    private static func isJoiner(_ scalar: Unicode.Scalar) -> Bool { scalar == "\u{200C}" || scalar == "\u{200D}" }

    /// Whether a joiner next to the scalar has a visible effect, as in cursive and Brahmic scripts and emoji.
    /// Elsewhere, it only makes two names look the same.
    private static func isShaped(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x620...0x109F, 0x1780...0x18AF, 0xA840...0xABFF, 0xFB50...0xFDCF, 0xFDF0...0xFDFF, 0xFE70...0xFEFC,
            0xFE0F:
            !isUnsafe(scalar)
        default: scalar.value > 0xFF && scalar.properties.isEmoji
        }
    }

    /// Whether the scalar is permitted in names here but refused by Windows.
    private static func isPunctuation(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "<", ">", ":", "\"", "|", "?", "*": true
        default: false
        }
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "\u{FFFD}" || isPunctuation(scalar) { return true }
        if scalar.value < 0x7F { return scalar.value < 0x20 }
        if scalar.value & 0xFFFE == 0xFFFE || (0xFDD0...0xFDEF).contains(scalar.value) { return true }
        // Fillers are invisible, although they are classified as letters.
        if [0x115F, 0x1160, 0x3164, 0xFFA0].contains(scalar.value) { return true }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: return true
        default: return false
        }
    }

    private static func mendingEnds(of name: String) -> String {
        var scalars = name.unicodeScalars[...]
        while let last = scalars.last, last == "." || last.properties.isWhitespace { scalars.removeLast() }
        scalars = scalars.drop { $0.properties.isWhitespace }
        guard let first = scalars.first else { return "" }
        var text = String(scalars)
        if first == "-" || first == "." { text = "_" + String(scalars.dropFirst()) }
        // The mark would be displayed as part of the preceding slash.
        if joinsWhatIsBefore(first) { text = "_" + text }
        text = mendingDeviceName(text)
        return ReservedName(text) == nil ? text : text + "_"
    }

    /// Whether the scalar combines with the preceding one: marks, joiners and modifiers.
    static func joinsWhatIsBefore(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: scalar.properties.isGraphemeExtend || scalar.properties.isEmojiModifier
        }
    }

    private static func mendingDeviceName(_ name: String) -> String {
        let scalars = name.unicodeScalars
        let stem = scalars.prefix { $0 != "." }
        var word = ASCII.lowercased(String(stem))
        while word.unicodeScalars.last == " " { word.unicodeScalars.removeLast() }
        guard isDevice(word) else { return name }
        return String(stem) + "_" + String(scalars[stem.endIndex...])
    }

    private static func isDevice(_ word: String) -> Bool {
        switch word {
        case "con", "prn", "aux", "nul", "conin$", "conout$", "clock$": return true
        default: break
        }
        guard word.utf8.hasPrefix("com") || word.utf8.hasPrefix("lpt") else { return false }
        // Windows also reserves these names with superscript digits.
        let rest = word.unicodeScalars.dropFirst(3)
        guard rest.count == 1, let digit = rest.first else { return false }
        return ("0"..."9").contains(digit) || digit == "\u{B9}" || digit == "\u{B2}" || digit == "\u{B3}"
    }

    static func cut(_ name: String, to limit: Int) -> String {
        guard name.utf8.count > limit else { return name }
        let parts = FileExtension.split(name)
        let stem = prefix(of: parts.stem, bytes: limit - parts.suffix.utf8.count)
        return stem + parts.suffix
    }

    /// Returns as many whole characters as fit, or as many scalars if not even the first character fits; the result
    /// does not end with a joiner.
    package static func prefix(of text: String, bytes limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var output = String.UnicodeScalarView()
        var count = 0
        for character in text {
            count += character.utf8.count
            if count > limit { break }
            output.append(contentsOf: character.unicodeScalars)
        }
        if output.isEmpty {
            count = 0
            for scalar in text.unicodeScalars {
                count += UTF8.width(scalar)
                if count > limit { break }
                output.append(scalar)
            }
        }
        while let last = output.last, isJoiner(last) { output.removeLast() }
        return String(output)
    }
}
