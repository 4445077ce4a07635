/// Names for files that servers and URLs suggest, made safe for any file system and for Ferry's own bookkeeping.
///
/// What happens to a name, in this order:
/// - what follows its last `/` or `\` counts;
/// - control, format (bidirectional, zero-width, …) and noncharacters, line separators, U+FFFD and `<>:"|?*` become `_`;
/// - outer white space and dots at the end are dropped; a dash or dot at the start becomes `_`;
/// - a combining mark at the start gets a `_` before it;
/// - device names of Windows get a `_` behind them: `con.txt` is `con_.txt`;
/// - what ends in `.part`, `.ferry` or `.old` gets a `_` at its end: those are the part files and journals of others;
/// - beyond ``maxBytes`` it is cut on a character, and the extension is kept.
package enum SafeName {
    /// The longest name in bytes: with ` (999)` and `.part.ferry.old` behind it, it still fits into 255.
    package static let maxBytes = 255 - " (999)".utf8.count - ".part.ferry.old".utf8.count

    /// The name of a download: the suggestion, else the URL's last segment, else the final URL's, else `download`.
    ///
    /// Each is taken only when something is left of it once it is safe.
    package static func make(_ suggested: String?, url: DownloadURL, finalURL: DownloadURL?) -> String {
        suggested.flatMap(sanitize) ?? name(of: url) ?? finalURL.flatMap(name) ?? "download"
    }

    /// The name made safe; `nil` when nothing is left of it, as of `..`, `/` and the empty name.
    ///
    /// A safe name stays as it is.
    package static func sanitize(_ name: String) -> String? { isPlain(name) ? name : mended(name) }

    /// What ``sanitize(_:)`` does, for names that may need it.
    static func mended(_ name: String) -> String? {
        let segment = name.utf8.split(
            omittingEmptySubsequences: false, whereSeparator: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
        ).last
        guard let segment else { return nil }
        var current = replacingUnsafe(String(decoding: segment, as: UTF8.self))
        // Cutting can bring out a bad end, and mending an end can make the name too long again.
        for _ in 0..<8 {
            let next = cut(mendingEnds(of: current), to: maxBytes)
            if next.isEmpty { return nil }
            if next.utf8.elementsEqual(current.utf8) { return next }
            current = next
        }
        return nil
    }

    /// The next name to try when one is taken: `name (2).ext`; the first `/`-separated parts of a path stay.
    ///
    /// It is cut where it would not leave room for `.part.ferry.old`.
    package static func numbered(_ name: String, _ n: Int) -> String {
        let start = name.utf8.lastIndex(of: UInt8(ascii: "/")).map { name.utf8.index(after: $0) } ?? name.startIndex
        let parts = FileExtension.split(String(name[start...]))
        let number = " (\(n))"
        let room = 255 - ".part.ferry.old".utf8.count - number.utf8.count - parts.suffix.utf8.count
        return name[..<start] + prefix(of: parts.stem, bytes: max(room, 1)) + number + parts.suffix
    }

    private static func name(of url: DownloadURL) -> String? {
        let bytes = url.lastPathSegment
        return sanitize(NameText.decode(bytes) ?? NameText.latin1(bytes))
    }
}

// MARK: Steps

extension SafeName {
    /// Whether the bytes alone tell that a name is safe as it is: nearly every name is, and is asked for more than once.
    ///
    /// False for some that are safe.
    static func isPlain(_ name: String) -> Bool {
        var name = name
        return name.withUTF8 { bytes in
            guard let first = bytes.first, let last = bytes.last, bytes.count <= maxBytes,
                first != UInt8(ascii: "-"), first != UInt8(ascii: "."), last != UInt8(ascii: "."),
                bytes.allSatisfy(isPlain)
            else { return false }
            // Device names, with whatever stands behind their dot.
            let stem = bytes.firstIndex(of: UInt8(ascii: ".")) ?? bytes.count
            if stem <= 7, [0x61, 0x63, 0x6C, 0x6E, 0x70].contains(first | 0x20) { return false }
            return !isOurs(String(decoding: bytes.suffix(6), as: UTF8.self))
        }
    }

    /// Letters, digits and what is never changed between them; no white space.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "+"): true
        default: ASCII.isLetter(byte) || ASCII.isDigit(byte)
        }
    }

    private static func replacingUnsafe(_ name: String) -> String {
        var output = String.UnicodeScalarView()
        for scalar in name.unicodeScalars { output.append(isUnsafe(scalar) ? "_" : scalar) }
        return String(output)
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "<", ">", ":", "\"", "|", "?", "*", "\u{FFFD}": return true
        default: break
        }
        if scalar.value < 0x7F { return scalar.value < 0x20 }
        if scalar.value & 0xFFFE == 0xFFFE || (0xFDD0...0xFDEF).contains(scalar.value) { return true }
        // Fillers that show nothing, although they count as letters.
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
        // Shown, it would become part of the slash before it.
        if joinsWhatIsBefore(first) { text = "_" + text }
        text = mendingDeviceName(text)
        return isOurs(text) ? text + "_" : text
    }

    /// Marks, joiners and modifiers.
    private static func joinsWhatIsBefore(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: scalar.properties.isGraphemeExtend || scalar.properties.isEmojiModifier
        }
    }

    /// Whether the name is one that Ferry gives to its own files; in any case, as some file systems ignore it.
    private static func isOurs(_ name: String) -> Bool {
        let lower = ASCII.lowercased(name)
        return lower.utf8.hasSuffix(".part") || lower.utf8.hasSuffix(".ferry") || lower.utf8.hasSuffix(".old")
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
        // Windows takes superscript digits for digits here.
        let rest = word.unicodeScalars.dropFirst(3)
        guard rest.count == 1, let digit = rest.first else { return false }
        return ("0"..."9").contains(digit) || digit == "\u{B9}" || digit == "\u{B2}" || digit == "\u{B3}"
    }

    private static func cut(_ name: String, to limit: Int) -> String {
        guard name.utf8.count > limit else { return name }
        let parts = FileExtension.split(name)
        let stem = prefix(of: parts.stem, bytes: limit - parts.suffix.utf8.count)
        return stem + parts.suffix
    }

    /// As many whole characters as fit; of a single character that does not fit, as many scalars.
    private static func prefix(of text: String, bytes limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var output = ""
        var count = 0
        for character in text {
            count += character.utf8.count
            if count > limit { break }
            output.append(character)
        }
        guard output.isEmpty else { return output }
        var scalars = String.UnicodeScalarView()
        count = 0
        for scalar in text.unicodeScalars {
            count += UTF8.width(scalar)
            if count > limit { break }
            scalars.append(scalar)
        }
        return String(scalars)
    }
}
