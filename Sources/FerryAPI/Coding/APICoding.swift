package import Foundation

/// The JSON coding of the API.
package enum APICoding {
    /// Encodes a value as UTF-8 without white space. Throws only if the value cannot be encoded, which is a defect.
    package static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return try encoder.encode(value)
    }

    /// Decodes a value; throws a `DecodingError`, see ``Problem/init(decoding:)``.
    package static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try JSONDecoder().decode(type, from: data)
    }

    /// Whether a JSON text nests at most `most` levels, not counting brackets in strings. A single pass before
    /// decoding.
    package static func isShallow(_ data: some Sequence<UInt8>, depth most: Int) -> Bool {
        var depth = 0
        var isInText = false
        var isEscaped = false
        for byte in data {
            if isInText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInText = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInText = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                if depth > most { return false }
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
        }
        return true
    }
}
