extension StringProtocol {
    /// The text with ASCII letters in lower case, for comparing field names, hosts and schemes.
    var asciiLowercased: String { ASCII.lowercased(self) }

    /// The text without leading and trailing white space and line ends.
    var trimmedText: String {
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
    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
