/// A JSON value that preserves its type: `1` is not a Boolean, and `true` is not a number.
package enum JSONValue: Sendable, Hashable {
    case null
    case flag(Bool)
    case whole(Int)
    case number(Double)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    /// The text; `nil` for every other value.
    package var string: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// The members of an object; `nil` for every other value.
    package var members: [String: JSONValue]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// The items of a list; `nil` for every other value.
    package var items: [JSONValue]? {
        guard case .list(let items) = self else { return nil }
        return items
    }

    /// The member with this name; `nil` if there is none.
    package subscript(_ name: String) -> JSONValue? { members?[name] }
}

extension JSONValue: Codable {
    package init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        // Each wrong guess throws, which takes longer than decoding the value. Texts and objects, the most frequent
        // values, come first.
        if value.decodeNil() {
            self = .null
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let members = try? value.decode([String: JSONValue].self) {
            self = .object(members)
        } else if let items = try? value.decode([JSONValue].self) {
            self = .list(items)
        } else if let number = try? value.decode(Int.self) {
            self = .whole(number)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else {
            self = .flag(try value.decode(Bool.self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .flag(let flag): try container.encode(flag)
        case .whole(let number): try container.encode(number)
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .list(let items): try container.encode(items)
        case .object(let members): try container.encode(members)
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral text: String) { self = .text(text) }
    package init(booleanLiteral flag: Bool) { self = .flag(flag) }
    package init(integerLiteral number: Int) { self = .whole(number) }
    package init(arrayLiteral items: JSONValue...) { self = .list(items) }
    package init(dictionaryLiteral members: (String, JSONValue)...) {
        self = .object(Dictionary(members) { first, _ in first })
    }
}
