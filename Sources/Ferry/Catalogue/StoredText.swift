#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Encodes values as JSON text for a column or a file, and decodes them. Dates are stored as seconds since 1970.
enum StoredText {
    // The keys are sorted, so that equal values have equal texts.
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.storedSeconds)
        }
        return encoder
    }()
    private static let decoder: JSONDecoder = {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        return decoder
    }()

    static func data(_ value: some Encodable) throws -> Data { try encoder.encode(value) }
    static func text(_ value: some Encodable) throws -> String { String(decoding: try data(value), as: UTF8.self) }

    static func value<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try decoder.decode(type, from: Data(text.utf8))
    }
    static func value<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
        try decoder.decode(type, from: data)
    }
}

extension Date {
    /// Seconds since 1970, with NaN replaced by 0 and the magnitude limited to 1e12 (the year 33658), which JSON can represent.
    var storedSeconds: Double {
        let seconds = timeIntervalSince1970
        return seconds.isNaN ? 0 : min(max(seconds, -1e12), 1e12)
    }

    /// The date as it is read back from the store, so that readers and listeners get the same value.
    var asStored: Date { Date(timeIntervalSince1970: storedSeconds) }
}
