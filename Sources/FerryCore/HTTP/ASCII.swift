/// Byte classes of URLs and header fields.
package enum ASCII {
    package static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

    package static func isLetter(_ byte: UInt8) -> Bool {
        byte >= 0x41 && (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A
    }

    /// C0 controls and DEL.
    static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }

    /// Space, tab, line breaks, vertical tab, form feed.
    package static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (byte >= 0x09 && byte <= 0x0D) }

    /// `tchar` (RFC 9110 §5.6.2).
    package static func isToken(_ byte: UInt8) -> Bool {
        if isDigit(byte) || isLetter(byte) { return true }
        return switch byte {
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    static func lowercased(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }

    static func lowercased(_ text: some StringProtocol) -> String {
        String(decoding: text.utf8.map(lowercased), as: UTF8.self)
    }

    /// Parses decimal digits; `nil` if empty, if there is any other byte, or on overflow of Int64.
    package static func number(_ bytes: some Collection<UInt8>) -> Int64? {
        guard !bytes.isEmpty else { return nil }
        var value: Int64 = 0
        for byte in bytes {
            guard isDigit(byte) else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int64(byte - 0x30))
            if overflow || carry { return nil }
            value = sum
        }
        return value
    }

    /// Parses decimal digits; a number that overflows Int64 becomes its maximum. `nil` if empty, or if there is any other byte.
    static func clampedNumber(_ bytes: some Collection<UInt8>) -> Int64? {
        number(bytes) ?? (!bytes.isEmpty && bytes.allSatisfy(isDigit) ? .max : nil)
    }

    /// Parses a size or offset: a number below ``ByteCount/bound``.
    package static func size(_ bytes: some Collection<UInt8>) -> ByteCount? {
        number(bytes).flatMap { $0.isSize ? $0 : nil }
    }

    /// Returns the bytes without surrounding spaces and tabs (OWS, RFC 9110 §5.6.3).
    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        guard let first = bytes.firstIndex(where: { !isBlank($0) }), let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return bytes[bytes.startIndex..<bytes.startIndex] }
        return bytes[first...last]
    }
}

extension StringProtocol {
    /// The text with ASCII letters in lower case, for comparing field names, hosts and schemes.
    package var asciiLowercased: String { ASCII.lowercased(self) }

    /// The text without leading and trailing white space and line ends.
    package var trimmedText: String {
        let bytes = Array(utf8)
        guard let first = bytes.firstIndex(where: { !ASCII.isWhiteSpace($0) }),
            let last = bytes.lastIndex(where: { !ASCII.isWhiteSpace($0) })
        else { return "" }
        return String(decoding: bytes[first...last], as: UTF8.self)
    }

    /// Whether any byte is a control character, which is never permitted in a request or a file name.
    var hasControls: Bool { utf8.contains(where: ASCII.isControl) }
}

extension ASCII {
    /// Space or tab.
    package static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
