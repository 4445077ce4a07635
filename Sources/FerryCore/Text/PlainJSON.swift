/// A JSON value whose only numbers are integers.
///
/// ``text`` is its canonical form (RFC 8785), independent of the order and white space of the source.
enum PlainJSON: Sendable, Hashable, Codable {
    case null
    case bool(Bool)
    case number(Int64)
    case text(String)
    case list([PlainJSON])
    case object([String: PlainJSON])

    /// The maximum nesting depth; Ferry writes at most three levels.
    static let mostDepth = 32

    init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= Self.mostDepth else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "more than \(Self.mostDepth) values inside each other"))
        }
        // Arrays come first, because each failed attempt costs time proportional to the depth of the value.
        if var items = try? decoder.unkeyedContainer() {
            var list: [PlainJSON] = []
            while !items.isAtEnd { list.append(try items.decode(PlainJSON.self)) }
            self = .list(list)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let number = try? container.decode(Int64.self) {
            self = .number(number)
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else {
            self = .object(try container.decode([String: PlainJSON].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let object): try object.encode(to: encoder)
        case .list(let list): try list.encode(to: encoder)
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let bool): try bool.encode(to: encoder)
        case .number(let number): try number.encode(to: encoder)
        case .text(let text): try text.encode(to: encoder)
        }
    }

    /// The canonical text.
    var text: String {
        switch self {
        case .null: return "null"
        case .bool(let bool): return bool ? "true" : "false"
        case .number(let number): return String(number)
        case .text(let text): return Self.quoted(text)
        case .list(let list): return "[" + list.map(\.text).joined(separator: ",") + "]"
        case .object(let object):
            let members = object.sorted { $0.key.utf16.lexicographicallyPrecedes($1.key.utf16) }
            return "{" + members.map { "\(Self.quoted($0)):\($1.text)" }.joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\u{8}": quoted += "\\b"
            case "\t": quoted += "\\t"
            case "\n": quoted += "\\n"
            case "\u{C}": quoted += "\\f"
            case "\r": quoted += "\\r"
            case "\u{0}"..<"\u{20}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
