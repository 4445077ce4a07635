import FerryAPI
import FerryCore
import FerryServerTesting
import Foundation
import HTTPTypes

/// Checks responses and events against the OpenAPI document.
struct AnswerDocument: Sendable {
    private let document: JSONValue
    private let checker: SchemaChecker

    init() throws {
        document = try JSONValue(OpenAPIDocument.data)
        checker = SchemaChecker(document: document)
    }

    /// The violations of the document by a response of this route; empty when there are none.
    func faults(of reply: DaemonRig.Reply, to route: Route) -> [String] {
        guard let response = response(of: route, reply.status) else {
            return ["the status \(reply.status) is not in the document"]
        }
        guard let content = response["content"] else {
            return reply.data.isEmpty ? [] : ["the document has no body"]
        }
        let type = reply.headers["content-type"] ?? "none"
        guard let schema = content[type]?["schema"] else { return ["the type \(type) is not in the document"] }
        guard let value = try? JSONValue(reply.data) else { return ["it is no JSON"] }
        return checker.faults(value, schema)
    }

    /// Whether the document has this status of a route with this type; for responses that are no JSON.
    func knows(_ route: Route, status: Int, type: String) -> Bool {
        response(of: route, status)?["content"]?[type]?["schema"] != nil
    }

    /// The violations of the schema of this name; empty when there are none.
    func faults(of value: JSONValue?, as name: String) -> [String] {
        guard let value else { return ["\(name): it is missing"] }
        return checker.faults(value, .object(["$ref": .text("#/components/schemas/\(name)")]), at: name)
    }

    /// The violations by the data of a stream event.
    func faults(of event: ServerSentEvent) -> [String] {
        guard let data = try? JSONValue(Data(event.data.utf8)) else { return ["\(event.name): it is no JSON"] }
        let content = response(of: .events, 200)?["content"]?[ServerSentEvent.mediaType]
        guard let schema = content?["x-events"]?[event.name] else {
            return ["\(event.name): an event that nobody knows"]
        }
        return checker.faults(data, schema, at: event.name)
    }

    /// The statuses of success that the document has for a route.
    func successes(of route: Route) -> [Int] { responses(of: route).keys.compactMap { Int($0) }.filter { $0 < 300 } }

    private func responses(of route: Route) -> [String: JSONValue] {
        let path = route.template.isEmpty ? "/" : route.template
        return document["paths"]?[path]?[route.method.rawValue.lowercased()]?["responses"]?.members ?? [:]
    }

    /// The response that the document has for a route and status; every refusal has the default response.
    private func response(of route: Route, _ status: Int) -> JSONValue? {
        let responses = responses(of: route)
        let response = responses["\(status)"] ?? (status < 400 ? nil : responses["default"])
        guard case .text(let reference)? = response?["$ref"] else { return response }
        return checker.resolved(reference)
    }
}
