package import struct Foundation.Data

/// A request to the daemon: route, identifier, query and body.
package struct DaemonCall: Sendable {
    package var route: Route
    /// The identifier in the path, of a download, token or session.
    package var id: String
    /// Names and values of the query, not encoded.
    package var query: [(name: String, value: String)]
    /// The JSON body; `nil` for `{}`.
    package var body: Data?

    package init(_ route: Route, id: String = "", query: [(name: String, value: String)] = [], body: Data? = nil) {
        self.route = route
        self.id = id
        self.query = query
        self.body = body
    }

    /// Creates a request with an encoded body. Throws only if the value cannot be encoded, which is a defect.
    package init(
        _ route: Route, id: String = "", query: [(name: String, value: String)] = [], json: some Encodable
    ) throws {
        self.init(route, id: id, query: query, body: try APICoding.encode(json))
    }

    /// Returns path and query as in the request line.
    func target(session: String) -> String {
        let pairs = query.map { Route.encoded($0.name) + "=" + Route.encoded($0.value) }
        return route.path(id: id, session: session) + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    }
}
