package import struct Foundation.Data

/// One request to the daemon: a route, what it is about, and what goes along.
package struct DaemonCall: Sendable {
    package var route: Route
    /// The download that it is about.
    package var id: String
    /// Names and values of the query, as they are.
    package var query: [(name: String, value: String)]
    /// JSON; `nil` for `{}`.
    package var body: Data?

    package init(_ route: Route, id: String = "", query: [(name: String, value: String)] = [], body: Data? = nil) {
        self.route = route
        self.id = id
        self.query = query
        self.body = body
    }

    /// With a shape as its body. Throws only where that cannot be coded: a defect.
    package init(
        _ route: Route, id: String = "", query: [(name: String, value: String)] = [], json: some Encodable
    ) throws {
        self.init(route, id: id, query: query, body: try APICoding.encode(json))
    }

    /// Path and query as they stand in the request line.
    func target(session: String) -> String {
        let pairs = query.map { Route.encoded($0.name) + "=" + Route.encoded($0.value) }
        return route.path(id: id, session: session) + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    }
}
