import FerryCore
package import struct Foundation.Data
import HTTPTypes

/// The OpenAPI 3.1 document, generated from the table of routes and the schemas of the shapes.
package enum OpenAPIDocument {
    /// The document as JSON, generated once.
    package static let data = Data(document.text.utf8)

    /// The document as a value.
    package static var document: JSONNode {
        [
            "openapi": "3.1.0",
            "info": [
                "title": "Ferry", "version": .text(String(FerryAPI.version)),
                "description": """
                The API of the Ferry daemon, over its Unix socket, or over TCP on loopback with a token. \
                Every answer carries Ferry-Version; requests are about the session in Ferry-Session.
                """,
            ],
            "servers": [["url": .text(FerryAPI.root)]],
            "security": [["token": []]],
            "paths": paths,
            "components": [
                "schemas": .object(APISchemas.all.map { ($0.name, $0.schema) }),
                "securitySchemes": ["token": ["type": "http", "scheme": "bearer"]],
                "parameters": [
                    "session": [
                        "name": .text(FerryAPI.sessionHeader), "in": "header", "required": false,
                        "description":
                            "The session that the request is about; default without, and over TCP that one alone.",
                        "schema": ["type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$"],
                    ],
                    "version": [
                        "name": .text(FerryAPI.versionHeader), "in": "header", "required": false,
                        "description": "The version of the API that the client speaks; another one is answered 426.",
                        "schema": [
                            "type": "integer", "minimum": .number(FerryAPI.minimumVersion),
                            "maximum": .number(FerryAPI.version),
                        ],
                    ],
                ],
                "responses": .object(problems.map { ($0.name, problem($0.summary)) }),
            ],
        ]
    }

    /// The problem responses of every route, by status; `nil` is any other status.
    private static let problems: [(name: String, status: Int?, summary: String)] = [
        ("problem", nil, "It was not done, and why (RFC 9457)."),
        ("badRequest", 400, "What was sent cannot be read, or cannot be meant."),
        ("unauthorized", 401, "Over TCP: there is no token, or not a good one; for a login, not a good code."),
        ("forbidden", 403, "Over TCP: from another site, for another session, or for the Unix socket only."),
        ("timeout", 408, "The request was not received in time; the connection is closed."),
        ("bodyTooLarge", 413, "The body has more bytes than the route reads; over TCP the connection is closed."),
        ("unsupportedMediaType", 415, "A change that is no JSON."),
        ("misdirected", 421, "Over TCP: Host is not this daemon's."),
        ("versionMismatch", 426, "The daemon does not speak this version of the API."),
        ("tooMany", 429, "Over TCP: too many connections have shown no token; this one is closed."),
        ("unavailable", 503, "The daemon is shutting down, or too many request bodies are in progress."),
    ]

    private static func problem(_ summary: String) -> JSONNode {
        [
            "description": .text(summary),
            "content": [Problem.mediaType: ["schema": ["$ref": "#/components/schemas/Problem"]]],
        ]
    }

    private static var paths: JSONNode {
        var paths: [(String, JSONNode)] = []
        for route in Route.allCases {
            let path = route.template.isEmpty ? "/" : route.template
            let operation = (route.method.rawValue.lowercased(), self.operation(route))
            if let index = paths.firstIndex(where: { $0.0 == path }) {
                guard case .object(let operations) = paths[index].1 else { continue }
                paths[index].1 = .object(operations + [operation])
            } else {
                paths.append((path, .object([operation])))
            }
        }
        return .object(paths)
    }

    private static func operation(_ route: Route) -> JSONNode {
        var members: [(String, JSONNode)] = [
            ("operationId", .text(route.rawValue)),
            ("summary", .text(route.summary)),
        ]
        if route.isLocalOnly { members.append(("description", "Through the Unix socket only.")) }
        if route.isOpen { members.append(("security", [])) }
        var parameters: [JSONNode] = [
            ["$ref": "#/components/parameters/session"], ["$ref": "#/components/parameters/version"],
        ]
        for name in ["id", "session"] where route.template.utf8.contains("{\(name)}") {
            parameters.append(["name": .text(name), "in": "path", "required": true, "schema": ["type": "string"]])
        }
        for parameter in route.queryParameters {
            parameters.append([
                "name": .text(parameter.name), "in": "query", "required": false,
                "description": .text(parameter.summary), "schema": parameter.schema,
            ])
        }
        if route == .events {
            parameters.append([
                "name": "Last-Event-ID", "in": "header", "required": false,
                "description": "The last event that was seen; what came after it is sent again.",
                "schema": ["type": "string"],
            ])
        }
        members.append(("parameters", .list(parameters)))
        if let body = route.requestSchema {
            members.append(
                (
                    "requestBody",
                    [
                        "description": .text(
                            "At most \(route.mostBytes) bytes."
                                + (route.isBodyOptional ? " Content-Type is needed without a body too." : "")),
                        "required": .bool(!route.isBodyOptional),
                        "content": ["application/json": ["schema": body]],
                    ]
                ))
        }
        members.append(("responses", responses(route)))
        return .object(members)
    }

    private static func responses(_ route: Route) -> JSONNode {
        var responses: [(String, JSONNode)] = []
        for status in route.successes {
            var response: [(String, JSONNode)] = [("description", .text(status == 204 ? "Done." : route.summary))]
            if let schema = route.responseSchema {
                let type = route == .events ? ServerSentEvent.mediaType : "application/json"
                response.append(("content", [type: ["schema": schema]]))
            }
            responses.append((String(status), .object(response)))
        }
        for problem in problems {
            let status = problem.status.map(String.init) ?? "default"
            responses.append((status, ["$ref": "#/components/responses/\(problem.name)"]))
        }
        return .object(responses)
    }
}
