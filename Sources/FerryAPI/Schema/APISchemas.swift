import FerryCore

/// The JSON schemas of all shapes, by name.
package enum APISchemas {
    package struct Named: Sendable {
        package let name: String
        package let schema: JSONNode
    }

    package static var all: [Named] { answers + requests }

    // MARK: Building blocks

    static let text: JSONNode = ["type": "string"]
    static let optionalText: JSONNode = ["type": ["string", "null"]]
    static let bytes: JSONNode = ["type": "integer", "minimum": 0]
    static let optionalBytes: JSONNode = ["type": ["integer", "null"], "minimum": 0]
    static let count: JSONNode = ["type": "integer"]
    static let optionalCount: JSONNode = ["type": ["integer", "null"]]
    static let flag: JSONNode = ["type": "boolean"]
    static let optionalFlag: JSONNode = ["type": ["boolean", "null"]]
    static let seconds: JSONNode = ["type": "number"]
    static let optionalSeconds: JSONNode = ["type": ["number", "null"]]
    static let time: JSONNode = ["type": "string", "format": "date-time"]
    static let optionalTime: JSONNode = ["type": ["string", "null"], "format": "date-time"]
    static let texts: JSONNode = ["type": "array", "items": ["type": "string"]]
    /// A phrase: its key, then its arguments. Nested phrases are plain arrays here, because an unnamed schema cannot be
    /// recursive.
    static let phrase: JSONNode = [
        "type": "array", "items": ["oneOf": [["type": "string"], ["type": "array"]]],
        "description": "Which sentence it is, then what fills it: texts, and sentences again.",
    ]
    static let map: JSONNode = ["type": "object", "additionalProperties": ["type": "string"]]

    static func words(_ words: some Sequence<String>) -> JSONNode {
        ["type": "string", "enum": .list(words.map { .text($0) })]
    }
    static func optionalWords(_ words: some Sequence<String>) -> JSONNode {
        ["type": ["string", "null"], "description": .text("One of " + words.joined(separator: ", ") + ".")]
    }
    static func list(_ name: String) -> JSONNode { ["type": "array", "items": Route.reference(name)] }
    static func optional(_ name: String) -> JSONNode { ["oneOf": [Route.reference(name), ["type": "null"]]] }

    /// The schema of a response: all members are present, and more may be added in later versions.
    static func answer(_ name: String, _ members: [(String, JSONNode)], optional: Set<String> = []) -> Named {
        let required = members.map(\.0).filter { !optional.contains($0) }
        return Named(
            name: name,
            schema: [
                "type": "object", "properties": .object(members), "required": .list(required.map { .text($0) }),
            ])
    }

    /// The schema of a request: unknown members are refused.
    static func request(_ name: String, _ members: [(String, JSONNode)], required: [String] = []) -> Named {
        Named(
            name: name,
            schema: [
                "type": "object", "properties": .object(members), "required": .list(required.map { .text($0) }),
                "additionalProperties": false,
            ])
    }
}
