/// Bytes of a name that came from a server, as text.
enum NameText {
    /// Reads percent-decoded bytes as UTF-8 or, when they are none, as GB 18030; `nil` when they are neither.
    static func decode(_ bytes: [UInt8]) -> String? {
        String(validating: bytes, as: UTF8.self) ?? GB18030.decode(bytes)
    }

    /// Reads bytes that are declared to be in this charset, in any case; `nil` when they are not, or it is unknown.
    static func decode(_ bytes: [UInt8], charset: String) -> String? {
        switch ASCII.lowercased(charset) {
        case "utf-8", "utf8": String(validating: bytes, as: UTF8.self)
        case "us-ascii", "ascii": bytes.allSatisfy { $0 < 0x80 } ? String(decoding: bytes, as: UTF8.self) : nil
        case "iso-8859-1", "latin1": latin1(bytes)
        case "gb18030", "gbk", "gb2312": GB18030.decode(bytes)
        default: nil
        }
    }

    static func latin1(_ bytes: [UInt8]) -> String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: bytes.map { Unicode.Scalar($0) })
        return String(scalars)
    }

    /// Whether bytes were lost on the way, or never were text.
    static func isDamaged(_ text: String) -> Bool { text.unicodeScalars.contains("\u{FFFD}") }
}
