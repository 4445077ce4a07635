extension DownloadURL {
    /// The whole URL with user info, for the Unix socket alone.
    var textWithUserInfo: String {
        guard let credentials else { return text }
        let start = text.index(text.startIndex, offsetBy: scheme.rawValue.count + 3)
        let user = Self.encoded(credentials.user) + ":" + Self.encoded(credentials.password)
        return text[..<start] + user + "@" + text[start...]
    }

    private static func encoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += "%" + String(UInt16(byte) + 0x100, radix: 16, uppercase: true).dropFirst()
            }
        }
        return encoded
    }
}
