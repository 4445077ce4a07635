/// Decoding of file names sent by servers.
package enum NameText {
    /// Decodes percent-decoded bytes as UTF-8, else as GB 18030; `nil` when they are neither.
    package static func decode(_ bytes: [UInt8]) -> String? {
        String(validating: bytes, as: UTF8.self) ?? GB18030.decode(bytes)
    }

    /// Decodes bytes in a declared charset (case-insensitive); `nil` when they are invalid or the charset is unknown.
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

    /// Whether the text contains U+FFFD: bytes were lost, or were never text.
    static func isDamaged(_ text: String) -> Bool { text.unicodeScalars.contains("\u{FFFD}") }
}
