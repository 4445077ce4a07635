import FerryCore
import struct Foundation.Date

/// A member's name that no enumeration knows.
struct AnyMember: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ text: String) { stringValue = text }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Decoder {
    /// The members of an object in a request; throws when there is one that is not known: a word that is misspelt must
    /// not be passed over in silence.
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
    /// A time as text, or null.
    mutating func encode(date: Date?, forKey key: Key) throws { try encode(date.map(RFC3339.text), forKey: key) }
}

extension KeyedDecodingContainer {
    /// A time as text; `nil` for null and where it is left out.
    func decodeDateIfPresent(forKey key: Key) throws -> Date? {
        guard let text = try decodeIfPresent(String.self, forKey: key) else { return nil }
        guard let date = RFC3339.date(text) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self,
                debugDescription: "\(APIText.quote(text)) is no time like 2025-01-31T09:05:00Z")
        }
        return date
    }

    /// A time as text.
    func decodeDate(forKey key: Key) throws -> Date {
        guard let date = try decodeDateIfPresent(forKey: key) else {
            throw DecodingError.valueNotFound(
                Date.self,
                DecodingError.Context(codingPath: codingPath + [key], debugDescription: "a time is missing"))
        }
        return date
    }

    /// A member that can be left out, null, or a value.
    func decodeAmendment<Value: Decodable & Sendable & Hashable>(
        _ type: Value.Type, forKey key: Key
    ) throws -> Amendment<Value> {
        guard contains(key) else { return .unchanged }
        return try .set(decodeNil(forKey: key) ? nil : decode(type, forKey: key))
    }
}

extension KeyedEncodingContainer {
    /// Leaves out what is unchanged.
    mutating func encode<Value: Encodable & Sendable & Hashable>(_ amendment: Amendment<Value>, forKey key: Key) throws
    {
        if case .set(let value) = amendment { try encode(value, forKey: key) }
    }
}
