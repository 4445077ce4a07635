/// A line editor for passwords typed without echo.
package struct PasswordLine: Sendable, Hashable {
    package enum Answer: Sendable, Hashable {
        case more
        case done(String)
        /// Ctrl-D on an empty line.
        case nothing
        /// Ctrl-C or Ctrl-\.
        case interrupted
    }

    private var bytes: [UInt8] = []

    package init() {}

    /// Processes one byte of input: line end, backspace (one character), Ctrl-U (whole line), or text.
    package mutating func take(_ byte: UInt8) -> Answer {
        switch byte {
        case 0x0A, 0x0D: return .done(String(decoding: bytes, as: UTF8.self))
        case 0x03, 0x1C: return .interrupted
        case 0x04: return bytes.isEmpty ? .nothing : .more
        case 0x08, 0x7F:
            while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
            return .more
        case 0x15:
            bytes = []
            return .more
        default:
            if bytes.count < 4096 { bytes.append(byte) }
            return .more
        }
    }
}
