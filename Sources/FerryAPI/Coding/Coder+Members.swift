import FerryCore
import struct Foundation.Date

/// A coding key for any member name.
struct AnyMember: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ text: String) { stringValue = text }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Decoder {
    /// Returns the container of a request's object. Throws for an unknown member, so that a misspelt name is not
    /// ignored.
    func members<Key: CodingKey & CaseIterable>(_ keys: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let known = Set(Key.allCases.map(\.stringValue))
        for key in try container(keyedBy: AnyMember.self).allKeys where !known.contains(key.stringValue) {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: codingPath,
                    debugDescription: "the member \(APIText.quote(key.stringValue)) is not known"))
        }
        return try container(keyedBy: Key.self)
    }
}

extension KeyedEncodingContainer {
    /// Encodes an RFC 3339 time, or null.
    mutating func encode(date: Date?, forKey key: Key) throws { try encode(date.map(RFC3339.text), forKey: key) }
}

extension KeyedDecodingContainer {
    /// Decodes an RFC 3339 time; `nil` when it is null or omitted.
    func decodeDateIfPresent(forKey key: Key) throws -> Date? {
        guard let text = try decodeIfPresent(String.self, forKey: key) else { return nil }
        guard let date = RFC3339.date(text) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self,
                debugDescription: "\(APIText.quote(text)) is no time like 2025-01-31T09:05:00Z")
        }
        return date
    }

    /// Decodes an RFC 3339 time.
    func decodeDate(forKey key: Key) throws -> Date {
        guard let date = try decodeDateIfPresent(forKey: key) else {
            throw DecodingError.valueNotFound(
                Date.self,
                DecodingError.Context(codingPath: codingPath + [key], debugDescription: "a time is missing"))
        }
        return date
    }

    /// Decodes a member that may be omitted, null, or a value.
    func decodeAmendment<Value: Decodable & Sendable & Hashable>(
        _ type: Value.Type, forKey key: Key
    ) throws -> Amendment<Value> {
        guard contains(key) else { return .unchanged }
        return try .set(decodeNil(forKey: key) ? nil : decode(type, forKey: key))
    }
}

extension KeyedEncodingContainer {
    /// Encodes the amendment; an unchanged one is omitted.
    mutating func encode<Value: Encodable & Sendable & Hashable>(_ amendment: Amendment<Value>, forKey key: Key) throws
    {
        if case .set(let value) = amendment { try encode(value, forKey: key) }
    }
}
