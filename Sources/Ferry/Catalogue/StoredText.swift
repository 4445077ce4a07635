import Foundation

/// Values as JSON text in a column or a file.
enum StoredText {
    // Sorted keys, so that equal values have equal texts.
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()
    private static let decoder = JSONDecoder()

    static func data(_ value: some Encodable) throws -> Data { try encoder.encode(value) }
    static func text(_ value: some Encodable) throws -> String { String(decoding: try data(value), as: UTF8.self) }

    static func value<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try decoder.decode(type, from: Data(text.utf8))
    }
    static func value<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
        try decoder.decode(type, from: data)
    }
}
