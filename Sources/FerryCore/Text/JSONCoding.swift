#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Data
    // allow(imports): JSONDecoder and JSONEncoder are classes, but without side effects.
    import class FoundationEssentials.JSONDecoder
    // allow(imports): as above.
    import class FoundationEssentials.JSONEncoder
#else
    package import struct Foundation.Data
    // allow(imports): as above.
    package import class Foundation.JSONDecoder
    // allow(imports): as above.
    package import class Foundation.JSONEncoder
#endif

/// The JSON format of the API, of manifests and of the commands' output lines.
package enum JSONCoding {
    /// Encodes a value as UTF-8 without white space, with times as RFC 3339. Throws only if the value cannot be
    /// encoded, which is a defect.
    package static func encode(_ value: some Encodable, sortsKeys: Bool = false) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = sortsKeys ? [.sortedKeys, .withoutEscapingSlashes] : .withoutEscapingSlashes
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(RFC3339.text(date))
        }
        return try encoder.encode(value)
    }

    /// Decodes a value with times as RFC 3339; throws a `DecodingError`.
    package static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            guard let date = RFC3339.date(text) else {
                throw DecodingError.dataCorruptedError(
                    in: container,
                    debugDescription: "\(ForeignText.quote(text)) is not a time like 2025-01-31T09:05:00Z")
            }
            return date
        }
        return try decoder.decode(type, from: data)
    }
}

extension JSONValue {
    /// Decodes a document; throws a `DecodingError`.
    package init(_ data: Data) throws { self = try JSONDecoder().decode(JSONValue.self, from: data) }
}
