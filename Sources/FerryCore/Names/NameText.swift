/// Decoding of file names sent by servers.
package enum NameText {
    /// Decodes percent-decoded bytes as UTF-8, otherwise as GB 18030; `nil` if they are neither.
    package static func decode(_ bytes: [UInt8]) -> String? {
        String(validating: bytes, as: UTF8.self) ?? GB18030.decode(bytes)
    }

    /// Decodes bytes in a declared charset (case-insensitive); `nil` if they are invalid or the charset is unknown.
    package static func decode(_ bytes: [UInt8], charset: String) -> String? {
        switch ASCII.lowercased(charset) {
        case "utf-8", "utf8": String(validating: bytes, as: UTF8.self)
        case "us-ascii", "ascii": bytes.allSatisfy { $0 < 0x80 } ? String(decoding: bytes, as: UTF8.self) : nil
        case "iso-8859-1", "latin1": latin1(bytes)
        case "gb18030", "gbk", "gb2312": GB18030.decode(bytes)
        default: nil
        }
    }

    package static func latin1(_ bytes: [UInt8]) -> String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: bytes.map { Unicode.Scalar($0) })
        return String(scalars)
    }

    /// Decodes raw bytes without a declared charset: as UTF-8, otherwise as GB 18030 if they look Chinese, otherwise as
    /// Latin-1.
    package static func guess(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        if looksChinese(bytes), let text = GB18030.decode(bytes) { return text }
        return latin1(bytes)
    }

    /// Whether the text looks Chinese: most non-ASCII characters consist of two non-ASCII bytes, and some of these
    /// pairs are adjacent to each other or not adjacent to an ASCII letter. In European languages, such pairs are rare
    /// and occur within words ("Größe").
    private static func looksChinese(_ bytes: [UInt8]) -> Bool {
        enum Piece { case letter, other, pair }
        var pieces: [Piece] = []
        var (pairs, others) = (0, 0)
        var index = 0
        while index < bytes.count {
            let next = index + 1 < bytes.count ? bytes[index + 1] : 0
            switch (bytes[index], next) {
            case (0x80..., 0x80...):
                pieces.append(.pair)
                (pairs, index) = (pairs + 1, index + 2)
            case (0x80..., 0x40...):
                pieces.append(.other)
                (others, index) = (others + 1, index + 2)
            default:
                pieces.append(ASCII.isLetter(bytes[index]) ? .letter : .other)
                index += 1
            }
        }
        guard pairs > others else { return false }
        return pieces.indices.contains { index in
            guard pieces[index] == .pair else { return false }
            let before = index > 0 ? pieces[index - 1] : .other
            let after = index + 1 < pieces.count ? pieces[index + 1] : .other
            return before == .pair || after == .pair || (before != .letter && after != .letter)
        }
    }

    /// Whether the text contains U+FFFD, because bytes were lost or were never text.
    static func isDamaged(_ text: String) -> Bool { text.unicodeScalars.contains("\u{FFFD}") }
}
