/// The query of `GET /downloads`.
package struct ListQuery: Sendable, Hashable {
    package enum Sort: String, Sendable, Hashable, CaseIterable {
        /// Queue order: descending priority, then position.
        case queue
        /// The time of addition.
        case added
        case name
        /// The total size; unknown sizes last.
        case size
        /// The name of the state.
        case state
    }

    package enum Order: String, Sendable, Hashable, CaseIterable { case asc, desc }

    /// Names of states, comma-separated in the query; `nil` for all.
    package var states: [String]?
    /// A case-insensitive search in name, URL and label.
    package var search: String?
    package var sort = Sort.queue
    package var order = Order.asc
    package var offset = 0
    /// 1 … ``most``.
    package var limit = 100
    /// The maximum of ``offset`` and ``limit``.
    package static let most = Int(Int32.max)
    /// A session, or ``FerryAPI/everySession``; `nil` for the client's own.
    package var session: String?

    package init() {}

    /// The query without `?`; members with their default value are omitted.
    package var text: String {
        var parts: [String] = []
        func add(_ name: String, _ value: String) { parts.append(name + "=" + Route.encoded(value)) }
        if let states { add("state", states.joined(separator: ",")) }
        if let search { add("search", search) }
        if sort != .queue { add("sort", sort.rawValue) }
        if order != .asc { add("order", order.rawValue) }
        if offset != 0 { add("offset", String(offset)) }
        if limit != 100 { add("limit", String(limit)) }
        if let session { add("session", session) }
        return parts.joined(separator: "&")
    }
}
