package import struct Foundation.Data
import HTTPTypes

/// The OpenAPI 3.1 document: made of the table of routes and the schemas of the shapes.
package enum OpenAPIDocument {
    /// JSON, made once.
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
                        "description": "The session that the request is about; default without.",
                        "schema": ["type": "string"],
                    ],
                    "version": [
                        "name": .text(FerryAPI.versionHeader), "in": "header", "required": false,
                        "description": "The version of the API that the client speaks; another one is answered 426.",
                        "schema": ["type": "integer"],
                    ],
                ],
                "responses": [
                    "problem": [
                        "description": "It was not done, and why (RFC 9457).",
                        "content": [
                            Problem.mediaType: ["schema": ["$ref": "#/components/schemas/Problem"]]
                        ],
                    ]
                ],
            ],
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
        for name in ["id", "session"] where route.template.contains("{\(name)}") {
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
        responses.append(("default", ["$ref": "#/components/responses/problem"]))
        return .object(responses)
    }
}
