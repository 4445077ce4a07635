/// A request to the daemon: route, identifier, query and body.
package struct DaemonCall: Sendable {
    package var route: Route
    /// The identifier in the path, of a download, token or session.
    package var id: String
    /// Names and values of the query, not encoded.
    package var query: [(name: String, value: String)]
    /// The body; `nil` for `{}`.
    package var json: (any Encodable & Sendable)?

    package init(
        _ route: Route, id: String = "", query: [(name: String, value: String)] = [],
        json: (any Encodable & Sendable)? = nil
    ) {
        self.route = route
        self.id = id
        self.query = query
        self.json = json
    }

    /// The downloads that match a filter. One response has all of them, since rows that move between two pages would
    /// be missed or repeated.
    package static func list(
        _ filter: [(name: String, value: String)] = [], offset: Int = 0, limit: Int = .max
    ) -> DaemonCall {
        let page = [("offset", min(offset, ListQuery.most)), ("limit", min(limit, ListQuery.most))]
        return DaemonCall(.list, query: filter + page.map { ($0, "\($1)") })
    }

    /// Returns path and query as in the request line.
    func target(session: String) -> String {
        let pairs = query.map { Route.encoded($0.name) + "=" + Route.encoded($0.value) }
        return route.path(id: id, session: session) + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    }
}
