import struct Foundation.Data

/// Encoded words of mail, `=?charset?B?…?=` and `=?charset?Q?…?=` (RFC 2047), which some servers use for file names.
enum EncodedWord {
    /// Decodes a text that consists of encoded words only; `nil` otherwise.
    static func decode(_ text: String) -> String? {
        guard text.utf8.hasPrefix("=?"), text.utf8.hasSuffix("?=") else { return nil }
        var output = ""
        for word in text.utf8.split(whereSeparator: { ASCII.isWhiteSpace($0) }) {
            let parts = word.split(separator: UInt8(ascii: "?"), omittingEmptySubsequences: false)
            guard parts.count == 5, parts[0].elementsEqual("=".utf8), parts[4].elementsEqual("=".utf8),
                // RFC 2231 §5 permits a language after the charset.
                let charset = parts[1].split(separator: UInt8(ascii: "*")).first,
                let bytes = bytes(parts[3], encoding: parts[2]),
                let piece = NameText.decode(bytes, charset: String(decoding: charset, as: UTF8.self))
            else { return nil }
            output += piece
        }
        return output
    }

    private static func bytes(_ text: Substring.UTF8View, encoding: Substring.UTF8View) -> [UInt8]? {
        switch String(decoding: encoding, as: UTF8.self) {
        case "B", "b": Data(base64Encoded: String(decoding: text, as: UTF8.self)).map { Array($0) }
        case "Q", "q": quotedPrintable(Array(text))
        default: nil
        }
    }

    private static func quotedPrintable(_ bytes: [UInt8]) -> [UInt8]? {
        let escaped = bytes.map { byte -> UInt8 in
            switch byte {
            case UInt8(ascii: "_"): UInt8(ascii: " ")
            case UInt8(ascii: "="): UInt8(ascii: "%")
            default: byte
            }
        }
        return bytes.contains(UInt8(ascii: "%")) ? nil : PercentEncoding.decodeStrictly(escaped)
    }
}
