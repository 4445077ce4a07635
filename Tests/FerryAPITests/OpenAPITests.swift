import FerryAPI
import FerryCore
import Foundation
import HTTPTypes
import Testing

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

    @Test("OpenAPI: every reference points to a schema")
    func references() throws {
        let schemas = try schemas()
        let text = String(decoding: OpenAPIDocument.data, as: UTF8.self)
        for match in text.matches(of: #/#\/components\/schemas\/(\w+)/#) {
            #expect(schemas[String(match.1)] != nil, "\(match.1)")
        }
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
            let value = try JSONSerialization.jsonObject(with: APICoding.encode(shape))
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
        let query = try #require(document["paths"]?["/downloads"]?["get"]?["parameters"]?.items)
        func parameter(_ name: String) -> JSONValue? { query.first { $0["name"] == .text(name) }?["schema"] }
        #expect(parameter("sort")?["enum"] == list(ListQuery.Sort.allCases.map(\.rawValue)))
        #expect(parameter("order")?["enum"] == list(ListQuery.Order.allCases.map(\.rawValue)))
        #expect(parameter("limit")?["maximum"] == .whole(ListQuery.most))
        #expect(Set(query.compactMap { $0["name"] }) == Set(ListQuery.names.map { .text($0) }))
        let events = document["paths"]?["/events"]?["get"]?["responses"]?["200"]?["content"]
        guard case .text(let told)? = events?[ServerSentEvent.mediaType]?["schema"]?["description"] else {
            Issue.record("the events are not described")
            return
        }
        #expect(told.contains(StreamEvent.Name.allCases.map(\.rawValue).joined(separator: ", ")))
    }
}
