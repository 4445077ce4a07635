import FerryAPI
import Foundation
import HTTPTypes
import Testing

@testable import FerryCore

@Suite("OpenAPI document")
struct OpenAPITests {
    private func document() throws -> [String: Any] {
        let value = try JSONSerialization.jsonObject(with: OpenAPIDocument.data)
        return try #require(value as? [String: Any])
    }

    private func schemas() throws -> [String: [String: Any]] {
        let components = try #require(document()["components"] as? [String: Any])
        return try #require(components["schemas"] as? [String: [String: Any]])
    }

    @Test("OpenAPI: it has every route of the table and no other")
    func routes() throws {
        let paths = try #require(document()["paths"] as? [String: [String: Any]])
        var documented: Set<String> = []
        for (path, operations) in paths {
            for (method, operation) in operations {
                let id = try #require((operation as? [String: Any])?["operationId"] as? String)
                documented.insert("\(method) \(path) \(id)")
            }
        }
        let table = Route.allCases.map { route in
            "\(route.method.rawValue.lowercased()) \(route.template.isEmpty ? "/" : route.template) \(route.rawValue)"
        }
        #expect(documented == Set(table))
        #expect(Set(table).count == Route.allCases.count)
    }

    @Test("OpenAPI: every reference points to a component")
    func references() throws {
        let document = try JSONValue(OpenAPIDocument.data)
        let text = String(decoding: OpenAPIDocument.data, as: UTF8.self)
        for match in text.matches(of: #/"#\/components\/(\w+)\/(\w+)"/#) {
            #expect(document["components"]?[String(match.1)]?[String(match.2)] != nil, "\(match.0)")
        }
    }

    private func operation(_ route: Route, in document: JSONValue) throws -> JSONValue {
        let path = route.template.isEmpty ? "/" : route.template
        return try #require(document["paths"]?[path]?[route.method.rawValue.lowercased()], "\(route)")
    }

    /// The parameters of an operation, those of the components too.
    private func parameters(_ operation: JSONValue, in document: JSONValue) throws -> [JSONValue] {
        try #require(operation["parameters"]?.items).map { parameter in
            guard let name = parameter["$ref"]?.string?.split(separator: "/").last else { return parameter }
            return try #require(document["components"]?["parameters"]?[String(name)])
        }
    }

    @Test("OpenAPI: every operation has the parameters, the limits and the refusals of its route")
    func operations() throws {
        let document = try JSONValue(OpenAPIDocument.data)
        let refusals = try #require(document["components"]?["responses"]?.members)
        #expect(document["openapi"] == "3.1.0")
        #expect(document["servers"] == [["url": .text(FerryAPI.root)]])
        #expect(document["security"] == [["token": []]])
        for (status, refusal) in refusals {
            #expect(refusal["content"]?.members?.keys.first == Problem.mediaType, "\(status)")
        }
        for route in Route.allCases {
            let operation = try operation(route, in: document)
            let parameters = try parameters(operation, in: document)
            func names(_ place: JSONValue) -> [String] {
                parameters.filter { $0["in"] == place }.compactMap { $0["name"]?.string }
            }
            #expect(Set(names("header")).isSuperset(of: [FerryAPI.sessionHeader, FerryAPI.versionHeader]), "\(route)")
            let words = route.template.split(separator: "/").filter { $0.hasPrefix("{") }
            #expect(names("path") == words.map { String($0.dropFirst().dropLast()) }, "\(route)")
            #expect((operation["description"] == "Through the Unix socket only.") == route.isLocalOnly, "\(route)")
            #expect((operation["security"] == []) == route.isOpen, "\(route)")
            #expect(operation["summary"]?.string?.isEmpty == false, "\(route)")
            let responses = try #require(operation["responses"]?.members)
            for status in refusals.keys {
                #expect(responses[status] == ["$ref": .text("#/components/responses/\(status)")], "\(route)")
            }
            let successes = Set(responses.keys).subtracting(refusals.keys)
            #expect(!successes.isEmpty && successes.isSubset(of: ["200", "201", "204", "206"]), "\(route)")
            let body = operation["requestBody"]
            #expect((body == nil) == (route.method == .get), "\(route)")
            guard let body else { continue }
            let size = "At most \(route.mostBytes) bytes."
            let optional = size + " Content-Type is needed without a body too."
            #expect(body["description"]?.string == (body["required"] == true ? size : optional), "\(route)")
            #expect(body["content"]?["application/json"]?["schema"] != nil, "\(route)")
        }
    }

    /// The default of each member of a request, as it would be coded.
    private struct Defaults: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: DownloadRequest.CodingKeys.self)
            for property in DownloadRequest.properties { try property.encode(.plain, &container) }
        }
    }

    @Test("OpenAPI: the members of a request have the bounds and defaults of the table of properties")
    func properties() throws {
        let schemas = try #require(JSONValue(OpenAPIDocument.data)["components"]?["schemas"])
        let request = try #require(schemas["DownloadRequest"]?["properties"]?.members)
        let change = try #require(schemas["RequestChange"]?["properties"]?.members)
        #expect(Set(request.keys) == Set(DownloadRequest.CodingKeys.allCases.map(\.rawValue)))
        #expect(Set(change.keys) == RequestChange.memberNames)
        let defaults = try JSONValue(JSONCoding.encode(Defaults()))
        for property in DownloadRequest.properties {
            let name = property.key.rawValue
            let schema = try #require(request[name])
            switch property.bounds {
            case .whole(let range):
                let isBounded = range.upperBound < ByteCount.bound - 1
                #expect(schema["type"] == "integer", "\(name)")
                #expect(schema["minimum"] == .whole(Int(range.lowerBound)), "\(name)")
                #expect(schema["maximum"] == (isBounded ? .whole(Int(range.upperBound)) : nil), "\(name)")
            case .seconds(let range):
                #expect(schema["type"] == "number", "\(name)")
                #expect(schema["minimum"] == .number(range.lowerBound), "\(name)")
                #expect(schema["maximum"] == .whole(Int(range.upperBound)), "\(name)")
            case nil: #expect(schema["minimum"] == nil && schema["maximum"] == nil, "\(name)")
            }
            switch defaults[name] {
            case .flag, .whole, .number, .text: #expect(schema["default"] == defaults[name], "\(name)")
            case .null, .list, .object, nil: #expect(schema["default"] == nil, "\(name)")
            }
            guard let changed = change[name], property.key != .urls else { continue }
            #expect(changed == Self.nullable(schema), "\(name)")
        }
    }

    /// The schema of a member of a change, whose null restores the default.
    private static func nullable(_ schema: JSONValue) -> JSONValue {
        var keywords = schema.members ?? [:]
        if let type = keywords["type"], case .text = type { keywords["type"] = [type, "null"] }
        if let words = keywords["enum"]?.items { keywords["enum"] = .list(words + [.null]) }
        keywords["default"] = nil
        return .object(keywords)
    }

    @Test("OpenAPI: encoded bodies have exactly the members of their schemas")
    func shapes() throws {
        let schemas = try schemas()
        var seen: Set<String> = []
        var membersSeen: [String: Set<String>] = [:]
        for (name, shape) in ShapeSamples.all {
            seen.insert(name)
            let schema = try #require(schemas[name], "\(name)")
            let properties = try #require(schema["properties"] as? [String: Any])
            let required = Set(try #require(schema["required"] as? [String]))
            let value = try JSONSerialization.jsonObject(with: JSONCoding.encode(shape))
            let members = Set(try #require(value as? [String: Any]).keys)
            #expect(members.subtracting(properties.keys).isEmpty, "\(name)")
            #expect(required.subtracting(members).isEmpty, "\(name)")
            membersSeen[name, default: []].formUnion(members)
        }
        #expect(seen == Set(schemas.keys))
        // A member that no sample has is perhaps never sent.
        for (name, members) in membersSeen {
            let properties = try #require(schemas[name]?["properties"] as? [String: Any])
            #expect(Set(properties.keys) == members, "\(name)")
        }
    }

    @Test("OpenAPI: a detailed download has all members of a listed one, and a set's source is what was asked for")
    func wholeShapes() throws {
        let schemas = try #require(JSONValue(OpenAPIDocument.data)["components"]?["schemas"])
        let (listed, detail) = (schemas["ListedDownload"], schemas["DownloadDetail"])
        for (name, schema) in try #require(listed?["properties"]?.members) {
            #expect(detail?["properties"]?[name] == schema, "\(name)")
        }
        let required = try #require(listed?["required"]?.items)
        #expect(Set(try #require(detail?["required"]?.items)).isSuperset(of: required))
        #expect(schemas["SetSource"]?["properties"] == schemas["NewSet"]?["properties"])
    }

    @Test("the words and limits in it are those of the program")
    func words() throws {
        let document = try JSONValue(OpenAPIDocument.data)
        let schemas = try #require(document["components"]?["schemas"])
        func list(_ words: [String]) -> JSONValue { .list(words.map { .text($0) }) }
        func words(_ shape: String, _ member: String) -> JSONValue? {
            let schema = schemas[shape]?["properties"]?[member]
            return schema?["items"]?["enum"] ?? schema?["enum"]
        }
        for shape in ["ListedDownload", "DownloadDetail"] {
            #expect(words(shape, "state") == list(DownloadState.Kind.allCases.map(\.rawValue)))
            #expect(words(shape, "waitReason") == list(WaitReason.Kind.allCases.map(\.rawValue)))
            #expect(words(shape, "pauseReason") == list(PauseReason.allCases.map(\.rawValue)))
            #expect(words(shape, "proof") == list(Proof.allCases.map(\.rawValue)))
            #expect(words(shape, "actions") == list(DownloadAction.allCases.map(\.rawValue)))
        }
        #expect(words("FileSet", "state") == list(FileSet.State.allCases.map(\.rawValue)))
        #expect(words("ConfinementBody", "gaps") == list(ConfinementBody.Gap.allCases.map(\.rawValue)))
        #expect(words("ClearBody", "which") == list(ClearFilter.allCases.map(\.rawValue)))
        #expect(words("DownloadRequest", "onConflict") == list(ConflictRule.allCases.map(\.rawValue)))
        #expect(words("DownloadRequest", "onDuplicate") == list(DuplicateRule.allCases.map(\.rawValue)))
        #expect(schemas["NewDownloads"]?["properties"]?["downloads"]?["maxItems"] == .whole(FerryAPI.mostAdded))
        let version = document["components"]?["parameters"]?["version"]?["schema"]
        #expect(version?["minimum"] == .whole(FerryAPI.minimumVersion))
        #expect(version?["maximum"] == .whole(FerryAPI.version))
        let query = try parameters(operation(.list, in: document), in: document).filter { $0["in"] == "query" }
        func parameter(_ name: String) -> JSONValue? { query.first { $0["name"] == .text(name) }?["schema"] }
        #expect(parameter("sort")?["enum"] == list(ListSort.allCases.map(\.rawValue)))
        #expect(parameter("order")?["enum"] == list(ListQuery.Order.allCases.map(\.rawValue)))
        for name in ["offset", "limit"] { #expect(parameter(name)?["maximum"] == .whole(ListQuery.most), "\(name)") }
        #expect(parameter("offset")?["default"] == .whole(ListQuery().offset))
        #expect(parameter("limit")?["default"] == .whole(ListQuery().limit))
        let set = schemas["NewSet"]?["properties"]
        #expect(set?["depth"]?["minimum"] == .whole(NewSet.depths.lowerBound))
        #expect(set?["depth"]?["maximum"] == .whole(NewSet.depths.upperBound))
        for name in ["include", "exclude"] { #expect(set?[name]?["maxItems"] == .whole(NewSet.mostPatterns)) }
        #expect(Set(query.compactMap { $0["name"] }) == Set(ListQuery.names.map { .text($0) }))
        let events = document["paths"]?["/events"]?["get"]?["responses"]?["200"]?["content"]
        guard case .text(let told)? = events?[ServerSentEvent.mediaType]?["schema"]?["description"] else {
            Issue.record("the events are not described")
            return
        }
        #expect(told.contains(StreamEvent.Name.allCases.map(\.rawValue).joined(separator: ", ")))
    }

    @Test("OpenAPI: the data of every event of the stream has a schema")
    func events() throws {
        let stream = try operation(.events, in: JSONValue(OpenAPIDocument.data))["responses"]?["200"]?["content"]
        let named = try #require(stream?[ServerSentEvent.mediaType]?["x-events"]?.members)
        let expected = StreamEvent.Name.allCases.map { name in
            (name.rawValue, ["$ref": .text("#/components/schemas/" + ShapeSamples.schema(of: name))] as JSONValue)
        }
        #expect(named == Dictionary(uniqueKeysWithValues: expected))
    }
}
