extension StringProtocol {
    /// The text with ASCII letters in lower case: what field names, hosts and schemes are compared in.
    var asciiLowercased: String { ASCII.lowercased(self) }

    /// The text without white space and line ends at both sides.
    var trimmedText: String {
        let bytes = Array(utf8)
        guard let first = bytes.firstIndex(where: { !ASCII.isWhiteSpace($0) }),
            let last = bytes.lastIndex(where: { !ASCII.isWhiteSpace($0) })
        else { return "" }
        return String(decoding: bytes[first...last], as: UTF8.self)
    }

    /// Whether a byte of it is a control: such a text never gets into a request or a file name.
    var hasControls: Bool { utf8.contains(where: ASCII.isControl) }
}

extension ASCII {
    /// Space or tab.
    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
