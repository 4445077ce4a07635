import FerryAPI
import FerryCore
import Foundation

/// Compares values with the schemas of a document: JSON Schema 2020-12, as far as the document uses it.
///
/// Stricter than that: a keyword that is unknown here is a fault, and so is a member that the document does not name.
struct SchemaChecker: Sendable {
    /// The document that references point into.
    let document: JSONValue

    /// The violations of the schema, each with its path; empty if there are none.
    func faults(_ value: JSONValue, _ schema: JSONValue, at place: String = "the answer") -> [String] {
        guard case .object(let keywords) = schema else { return ["\(place): its schema is no object"] }
        return keywords.keys.sorted().flatMap { keyword in
            keywords[keyword].map { faults(keyword, $0, in: keywords, value, place) } ?? []
        }
    }

    /// The schema of a reference: `#/components/schemas/NAME`.
    func resolved(_ reference: String) -> JSONValue? {
        let path = reference.split(separator: "/", omittingEmptySubsequences: false)
        guard path.first == "#" else { return nil }
        return path.dropFirst().reduce(document as JSONValue?) { $0?[String($1)] }
    }

    private func faults(
        _ keyword: String, _ argument: JSONValue, in keywords: [String: JSONValue], _ value: JSONValue, _ place: String
    ) -> [String] {
        switch (keyword, argument) {
        case ("$ref", .text(let reference)):
            guard let schema = resolved(reference) else { return ["\(place): \(reference) leads nowhere"] }
            return faults(value, schema, at: place)
        case ("type", .text): return isOf(argument, value) ? [] : ["\(place): \(value) is no \(argument)"]
        case ("type", .list(let types)):
            return types.contains { isOf($0, value) } ? [] : ["\(place): \(value) is none of \(types)"]
        case ("enum", .list(let words)): return words.contains(value) ? [] : ["\(place): \(value) is no word for it"]
        case ("oneOf", .list(let schemas)):
            let tries = schemas.map { faults(value, $0, at: place) }
            let fitting = tries.count(where: \.isEmpty)
            return fitting == 1 ? [] : ["\(place): fits \(fitting) of \(schemas.count)"] + tries.flatMap(\.self)
        case ("required", .list(let names)):
            guard case .object = value else { return [] }
            return names.compactMap { name in
                guard case .text(let name) = name else { return "\(place): a name is no text" }
                return value[name] == nil ? "\(place): \(name) is missing" : nil
            }
        case ("properties", .object(let properties)): return members(of: value, place, properties, keywords)
        case ("additionalProperties", _):
            guard case .object(let members) = value, argument != .flag(true) else { return [] }
            let others = members.keys.sorted().filter { keywords["properties"]?[$0] == nil }
            if argument == .flag(false) { return others.map { "\(place): \($0) must not be there" } }
            return others.flatMap { name in members[name].map { faults($0, argument, at: "\(place).\(name)") } ?? [] }
        case ("items", .object):
            guard case .list(let items) = value else { return [] }
            return items.enumerated().flatMap { faults($1, argument, at: "\(place)[\($0)]") }
        case ("minItems", .whole), ("maxItems", .whole), ("minimum", .whole), ("maximum", .whole):
            return isWithin(keyword, argument, value) ? [] : ["\(place): \(value) is beyond \(keyword) \(argument)"]
        case ("format", .text("date-time")):
            guard case .text(let text) = value else { return [] }
            return RFC3339.date(text) == nil ? ["\(place): \(text) is no time"] : []
        case ("contentEncoding", .text("base64")):
            guard case .text(let text) = value else { return [] }
            return Data(base64Encoded: text) == nil ? ["\(place): \(text) is not in base 64"] : []
        case ("description", .text), ("default", _): return []
        default: return ["\(place): its schema has \(keyword), which is not known here"]
        }
    }

    private func members(
        of value: JSONValue, _ place: String, _ properties: [String: JSONValue], _ keywords: [String: JSONValue]
    ) -> [String] {
        guard case .object(let members) = value else { return [] }
        return members.keys.sorted().flatMap { name in
            guard let schema = properties[name], let member = members[name] else {
                return keywords["additionalProperties"] == nil ? ["\(place): \(name) is not in the document"] : []
            }
            return faults(member, schema, at: "\(place).\(name)")
        }
    }

    private func isOf(_ type: JSONValue, _ value: JSONValue) -> Bool {
        switch (type, value) {
        case (.text("null"), .null), (.text("boolean"), .flag), (.text("integer"), .whole), (.text("number"), .whole),
            (.text("number"), .number), (.text("string"), .text), (.text("array"), .list), (.text("object"), .object):
            true
        default: false
        }
    }

    private func isWithin(_ keyword: String, _ limit: JSONValue, _ value: JSONValue) -> Bool {
        guard case .whole(let limit) = limit else { return false }
        switch (keyword, value) {
        case ("minItems", .list(let items)): return items.count >= limit
        case ("maxItems", .list(let items)): return items.count <= limit
        case ("minimum", .whole(let number)): return number >= limit
        case ("maximum", .whole(let number)): return number <= limit
        case ("minimum", .number(let number)): return number >= Double(limit)
        case ("maximum", .number(let number)): return number <= Double(limit)
        default: return true
        }
    }
}
