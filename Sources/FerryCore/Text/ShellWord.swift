/// Quoting for POSIX shells.
package enum ShellWord {
    /// Returns the text unchanged if no shell would alter it, otherwise in single quotes.
    package static func quote(_ text: String) -> String {
        let plain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            case UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: ":"): true
            case UInt8(ascii: ","), UInt8(ascii: "+"), UInt8(ascii: "@"), UInt8(ascii: "%"): true
            case 0x80...: true
            default: false
            }
        }
        if plain, !text.isEmpty { return text }
        return "'" + text.split(at: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
