import FerryCore

/// The change of one optional member: unchanged, null, or a value.
///
/// In synthesized coding, an unchanged member is omitted.
package enum Amendment<Value: Codable & Sendable & Hashable>: Codable, Sendable, Hashable {
    /// The member was omitted.
    case unchanged
    /// The new value; `nil` if null was sent.
    case set(Value?)

    package init(from decoder: any Decoder) throws { self = .set(try Value?(from: decoder)) }

    package func encode(to encoder: any Encoder) throws {
        if case .set(let value) = self { try value.encode(to: encoder) }
    }
}

extension KeyedDecodingContainer {
    func decode<Value>(_ type: Amendment<Value>.Type, forKey key: Key) throws -> Amendment<Value> {
        guard contains(key) else { return .unchanged }
        return try .set(decodeNil(forKey: key) ? nil : decodeNamed(Value.self, forKey: key))
    }
}

extension KeyedEncodingContainer {
    mutating func encode<Value>(_ amendment: Amendment<Value>, forKey key: Key) throws {
        if case .set(let value) = amendment { try encode(value, forKey: key) }
    }
}
