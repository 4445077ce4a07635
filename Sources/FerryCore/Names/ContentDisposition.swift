#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Data
#else
    import struct Foundation.Data
#endif

/// The value of a Content-Disposition field (RFC 6266).
package enum ContentDisposition {
    /// Returns the suggested file name, decoded but not sanitized; see ``SafeName``.
    ///
    /// In order of preference: `filename*` in its declared charset (RFC 8187); a percent-encoded `filename`, as UTF-8
    /// or GB 18030; `filename` as encoded words (RFC 2047); `filename` as it is. A parameter is skipped if it has several
    /// different values, lacks its closing
    /// quote, has an unknown charset, or is damaged (U+FFFD). `nil` if no parameter is usable.
    ///
    /// In quotes, a backslash escapes only a quote or another backslash (RFC 9110 §5.6.4); elsewhere it is kept as part
    /// of a Windows path.
    package static func fileName(_ field: String) -> String? {
        guard field.utf8.count <= 64 * 1024 else { return nil }
        let parameters = parameters(of: field)
        let extended = agreed("filename*", in: parameters).flatMap(extendedValue)
        let plain = agreed("filename", in: parameters).flatMap(plainValue)
        return [extended, plain].lazy.compactMap(\.self).first { !$0.isEmpty && !NameText.isDamaged($0) }
    }

    /// Returns the value of a parameter; `nil` when it is missing or has several different values.
    private static func agreed(_ name: String, in parameters: [(name: String, value: [UInt8])]) -> [UInt8]? {
        let values = parameters.filter { $0.name == name }.map(\.value)
        guard let first = values.first, values.allSatisfy({ $0 == first }) else { return nil }
        return first
    }

    /// Decodes `charset'language'value` (RFC 8187 §3.2).
    private static func extendedValue(_ value: [UInt8]) -> String? {
        let parts = value.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = PercentEncoding.decodeStrictly(parts[2]) else { return nil }
        return NameText.decode(bytes, charset: String(decoding: parts[0], as: UTF8.self))
    }

    private static func plainValue(_ value: [UInt8]) -> String? {
        let text = String(decoding: value, as: UTF8.self)
        if value.contains(UInt8(ascii: "%")), let bytes = PercentEncoding.decodeStrictly(value),
            let decoded = NameText.decode(bytes)
        {
            return decoded
        }
        return EncodedWord.decode(text) ?? text
    }
}

// MARK: Parameters

extension ContentDisposition {
    /// Returns the parameters in order, names in lower case; malformed ones are omitted.
    private static func parameters(of field: String) -> [(name: String, value: [UInt8])] {
        var found: [(name: String, value: [UInt8])] = []
        var rest = Array(field.utf8)[...]
        while !rest.isEmpty, found.count < 64 {
            let name = rest.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
            rest = rest[name.endIndex...]
            guard rest.first == UInt8(ascii: "=") else {
                rest = rest.dropFirst()
                continue
            }
            rest = rest.dropFirst().drop { ASCII.isWhiteSpace($0) }
            guard let value = rest.first == UInt8(ascii: "\"") ? quoted(&rest) : unquoted(&rest) else { continue }
            found.append((String(decoding: ASCII.trimmed(name).map(ASCII.lowercased), as: UTF8.self), value))
        }
        return found
    }

    /// Parses a value up to the next semicolon. Spaces in it are invalid but common.
    private static func unquoted(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        let value = rest.prefix { $0 != UInt8(ascii: ";") }
        rest = rest[value.endIndex...].dropFirst()
        return Array(ASCII.trimmed(value))
    }

    /// Parses a quoted value; `nil` if the closing quote is missing or other text follows it. Parsing then continues
    /// after the next semicolon, which may precede a valid parameter.
    private static func quoted(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        var value: [UInt8] = []
        var index = rest.startIndex + 1
        while index < rest.endIndex, rest[index] != UInt8(ascii: "\"") {
            let next = index + 1
            if rest[index] == UInt8(ascii: "\\"), next < rest.endIndex,
                rest[next] == UInt8(ascii: "\"") || rest[next] == UInt8(ascii: "\\")
            {
                index = next
            }
            value.append(rest[index])
            index += 1
        }
        if index < rest.endIndex {
            let after = rest[(index + 1)...]
            let junk = after.prefix { $0 != UInt8(ascii: ";") }
            if ASCII.trimmed(junk).isEmpty {
                rest = after[junk.endIndex...].dropFirst()
                return value
            }
        }
        _ = unquoted(&rest)
        return nil
    }
}

/// Encoded words of email, `=?charset?B?…?=` and `=?charset?Q?…?=` (RFC 2047), which some servers use for file names.
enum EncodedWord {
    /// Decodes a text that consists only of encoded words; `nil` otherwise.
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
