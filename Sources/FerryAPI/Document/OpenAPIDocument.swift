import CFerryAssets
import FerryCore
import HTTPTypes

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The OpenAPI 3.1 document: the table of routes, and the descriptions of routes and shapes in `openapi.json`.
///
/// In that resource a string names one of its `types` or a shape, a list of one is an array, and a list of several are
/// the values of an enumeration. A member whose name ends in `?` may be absent; `+` includes the members of another
/// shape. Requests have no further members.
package struct OpenAPIDocument {
    /// The document as JSON, generated once. Empty only if the resource is no JSON, which tests rule out.
    package static let data: Data = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let given = try? JSONValue(Data(bytes: ferry_openapi_document.bytes, count: ferry_openapi_document.count))
        return (try? encoder.encode(OpenAPIDocument(given: given ?? .null).whole)) ?? Data()
    }()

    /// The resource.
    private let given: JSONValue

    private var whole: JSONValue {
        let problems = (given["problems"]?.members ?? [:]).mapValues { summary -> JSONValue in
            let content: JSONValue = [Problem.mediaType: ["schema": reference("schemas", "Problem")]]
            return ["description": summary, "content": content]
        }
        let answers = (given["answers"]?.members ?? [:]).mapValues { schema(ofShape: $0, isOpen: true) }
        let requests = (given["requests"]?.members ?? [:]).mapValues { schema(ofShape: $0, isOpen: false) }
        return [
            "openapi": "3.1.0", "info": given["info"] ?? .null, "servers": [["url": .text(FerryAPI.root)]],
            "security": [["token": []]], "paths": paths,
            "components": [
                "schemas": .object(answers.merging(requests) { answer, _ in answer }), "responses": .object(problems),
                "securitySchemes": ["token": ["type": "http", "scheme": "bearer"]],
                "parameters": given["parameters"] ?? .null,
            ],
        ]
    }

    private func reference(_ kind: String, _ name: String) -> JSONValue {
        ["$ref": .text("#/components/\(kind)/\(name)")]
    }

    // MARK: Schemas

    private func schema(of value: JSONValue) -> JSONValue {
        switch value {
        case .text(let name): return given["types"]?[name] ?? reference("schemas", name)
        case .list(let items) where items.count == 1: return ["type": "array", "items": schema(of: items[0])]
        case .list: return ["type": "string", "enum": value]
        case .object(var keywords):
            keywords["items"] = keywords["items"].map(schema)
            if case .list(let all)? = keywords["oneOf"] { keywords["oneOf"] = .list(all.map(schema)) }
            return .object(keywords)
        case .null, .flag, .whole, .number: return value
        }
    }

    private func schema(ofShape shape: JSONValue, isOpen: Bool) -> JSONValue {
        var members = shape.members ?? [:]
        if case .text(let other)? = members.removeValue(forKey: "+") {
            members.merge(given["answers"]?[other]?.members ?? [:]) { own, _ in own }
        }
        var properties: [String: JSONValue] = [:]
        for (name, value) in members { properties[String(name.dropping(suffix: "?") ?? name[...])] = schema(of: value) }
        let required = members.keys.filter { $0.dropping(suffix: "?") == nil }.sorted()
        var schema: [String: JSONValue] = ["type": "object", "properties": .object(properties)]
        schema["required"] = .list(required.map { .text($0) })
        schema["additionalProperties"] = isOpen ? nil : false
        return .object(schema)
    }

    // MARK: Operations

    private var paths: JSONValue {
        var paths: [String: [String: JSONValue]] = [:]
        for route in Route.allCases {
            let path = route.template.isEmpty ? "/" : route.template
            paths[path, default: [:]][route.method.rawValue.lowercased()] = operation(route)
        }
        return .object(paths.mapValues { .object($0) })
    }

    private func operation(_ route: Route) -> JSONValue {
        let told = given["operations"]?[route.rawValue] ?? .null
        var members: [String: JSONValue] = ["operationId": .text(route.rawValue)]
        members["summary"] = told["summary"]
        members["description"] = route.isLocalOnly ? "Through the Unix socket only." : nil
        members["security"] = route.isOpen ? [] : nil
        members["parameters"] = .list(parameters(route, told))
        members["responses"] = .object(responses(route, told))
        if route.method != .get {
            let isOptional = told["body"] == nil || told["isBodyOptional"] == true
            let size = "At most \(route.mostBytes) bytes."
            let schema: JSONValue = told["body"].map(schema) ?? ["type": "object", "additionalProperties": false]
            members["requestBody"] = [
                "description": .text(isOptional ? size + " Content-Type is needed without a body too." : size),
                "required": .flag(!isOptional), "content": ["application/json": ["schema": schema]],
            ]
        }
        return .object(members)
    }

    private func parameters(_ route: Route, _ told: JSONValue) -> [JSONValue] {
        var parameters = [reference("parameters", "session"), reference("parameters", "version")]
        for name in ["id", "session"] where route.template.utf8.contains("{\(name)}") {
            parameters.append(["name": .text(name), "in": "path", "required": true, "schema": ["type": "string"]])
        }
        guard case .list(let own)? = told["parameters"] else { return parameters }
        return parameters
            + own.map { parameter in
                .object((parameter.members ?? [:]).merging(["schema": schema(of: parameter["schema"] ?? .null)]) { $1 })
            }
    }

    private func responses(_ route: Route, _ told: JSONValue) -> [String: JSONValue] {
        var responses: [String: JSONValue] = [:]
        for status in (given["problems"]?.members ?? [:]).keys { responses[status] = reference("responses", status) }
        var success: [String: JSONValue] = [:]
        success["description"] = told["summary"]
        if let answer = told["answer"] {
            var type = route == .events ? ServerSentEvent.mediaType : "application/json"
            if case .text(let other)? = told["type"] { type = other }
            success["content"] = [type: ["schema": schema(of: answer)]]
        }
        for status in told["statuses"]?.items ?? ["200"] {
            if case .text(let status) = status { responses[status] = .object(success) }
        }
        return responses
    }
}
