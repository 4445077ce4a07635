/// Percent-encoding of URLs and header parameters (RFC 3986 §2.1).
package enum PercentEncoding {
    /// The value of a hexadecimal digit; `nil` for any other byte.
    package static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Decodes every valid `%XX`; a lone `%` is kept.
    package static func decode(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let input = Array(bytes)
        var output: [UInt8] = []
        output.reserveCapacity(input.count)
        var index = 0
        while index < input.count {
            if let byte = escapedByte(in: input, at: index) {
                output.append(byte)
                index += 3
            } else {
                output.append(input[index])
                index += 1
            }
        }
        return output
    }

    /// Decodes every `%XX`; `nil` if a `%` is not followed by two hexadecimal digits.
    static func decodeStrictly(_ bytes: some Collection<UInt8>) -> [UInt8]? {
        let input = Array(bytes)
        var output: [UInt8] = []
        output.reserveCapacity(input.count)
        var index = 0
        while index < input.count {
            if let byte = escapedByte(in: input, at: index) {
                output.append(byte)
                index += 3
            } else if input[index] == UInt8(ascii: "%") {
                return nil
            } else {
                output.append(input[index])
                index += 1
            }
        }
        return output
    }

    /// Encodes every byte except ASCII letters and digits.
    package static func encodeAll(_ text: String) -> String {
        var out = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: out.unicodeScalars.append(Unicode.Scalar(byte))
            default: out += "%" + String(UInt16(byte) + 0x100, radix: 16, uppercase: true).dropFirst()
            }
        }
        return out
    }

    /// Encodes bytes that are not permitted in a path or query; valid `%XX` is kept, a lone `%` becomes `%25`.
    ///
    /// `allowsQuestionMark` is false for a path, true for a query (RFC 3986 §3.3, §3.4).
    package static func encode(_ bytes: ArraySlice<UInt8>, allowsQuestionMark: Bool) -> String {
        let input = Array(bytes)
        return encode(input) { index in
            switch input[index] {
            case UInt8(ascii: "%"): escapedByte(in: input, at: index) != nil
            case UInt8(ascii: "?"): allowsQuestionMark
            default: isPathByte(input[index])
            }
        }
    }

    /// Encodes bytes of a query that cannot be sent: spaces, control characters, `"`, `<`, `>`, `\` and all non-ASCII
    /// bytes.
    ///
    /// All other bytes stay unchanged, as in browsers (WHATWG URL, query percent-encode set), including `[ ] { } | ^`
    /// and a lone `%`, because a signature may cover the query as it was given.
    package static func encodeQuery(_ bytes: ArraySlice<UInt8>) -> String {
        let input = Array(bytes)
        return encode(input) { index in
            switch input[index] {
            case UInt8(ascii: "\""), UInt8(ascii: "#"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"): false
            default: (0x21...0x7E).contains(input[index])
            }
        }
    }

    /// Encodes the bytes at the positions where `stays` is false.
    private static func encode(_ input: [UInt8], where stays: (Int) -> Bool) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(input.count)
        for (index, byte) in input.enumerated() {
            if stays(index) {
                output.append(byte)
            } else {
                output += escape(byte)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// `%XX` of a byte.
    package static func escape(_ byte: UInt8) -> [UInt8] {
        [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
    }

    private static func escapedByte(in bytes: [UInt8], at index: Int) -> UInt8? {
        guard bytes[index] == UInt8(ascii: "%"), bytes.count - index > 2,
            let high = hexValue(bytes[index + 1]), let low = hexValue(bytes[index + 2])
        else { return nil }
        return high << 4 | low
    }

    /// `pchar` and `/`, without `%`.
    private static func isPathByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "!"),
            UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"),
            UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="),
            UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "/"):
            true
        default:
            false
        }
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)
}
