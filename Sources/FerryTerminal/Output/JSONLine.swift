/// A JSON object on one line, with its fields in the order of insertion.
package struct JSONLine: Sendable, Hashable {
    /// The value of a field.
    package indirect enum Value: Sendable, Hashable {
        case null
        case bool(Bool)
        case integer(Int64)
        /// A number, such as seconds, written with at most three decimals.
        case number(Double)
        case string(String)
        case array([Value])

        package init(_ text: String?) { self = text.map(Value.string) ?? .null }
        package init(_ number: Int64?) { self = number.map(Value.integer) ?? .null }
        package init(_ number: Double?) { self = number.map(Value.number) ?? .null }
    }

    package private(set) var fields: [(key: String, value: Value)] = []

    package init() {}

    package mutating func add(_ key: String, _ value: Value) { fields.append((key, value)) }

    package var keys: [String] { fields.map(\.key) }

    /// The JSON text, without a line feed.
    package var text: String {
        var out = "{"
        for (index, field) in fields.enumerated() {
            if index > 0 { out += "," }
            Self.write(field.key, to: &out)
            out += ":"
            Self.write(field.value, to: &out)
        }
        return out + "}"
    }

    private static func write(_ value: Value, to out: inout String) {
        switch value {
        case .null: out += "null"
        case .bool(let flag): out += flag ? "true" : "false"
        case .integer(let number): out += String(number)
        case .number(let number): out += self.number(number)
        case .string(let text): write(text, to: &out)
        case .array(let values):
            out += "["
            for (index, value) in values.enumerated() {
                if index > 0 { out += "," }
                write(value, to: &out)
            }
            out += "]"
        }
    }

    private static func number(_ number: Double) -> String {
        guard number.isFinite, abs(number) < 9e15 else { return "null" }
        let thousandths = Int64((number * 1000).rounded())
        let digits = String(thousandths.magnitude % 1000 + 1000).dropFirst()
        let fraction = digits.reversed().drop { $0 == "0" }.reversed()
        let sign = thousandths < 0 ? "-" : ""
        return sign + String(thousandths.magnitude / 1000) + (fraction.isEmpty ? "" : "." + String(fraction))
    }

    /// Writes a string (RFC 8259 §7) and also escapes terminal control characters.
    private static func write(_ text: String, to out: inout String) {
        out += "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\r": out += "\\r"
            case "\t": out += "\\t"
            default:
                if PrintableText.isUnsafe(scalar) {
                    for unit in String(scalar).utf16 {
                        out += "\\u" + String(Int(unit) + 0x10000, radix: 16).dropFirst()
                    }
                } else {
                    out.unicodeScalars.append(scalar)
                }
            }
        }
        out += "\""
    }

    package static func == (lhs: JSONLine, rhs: JSONLine) -> Bool { lhs.text == rhs.text }
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
