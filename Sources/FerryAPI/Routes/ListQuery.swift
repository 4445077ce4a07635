/// What `GET /downloads` asks for.
package struct ListQuery: Sendable, Hashable {
    package enum Sort: String, Sendable, Hashable, CaseIterable {
        /// As they run: higher priority first, then the place.
        case queue
        /// When they were added.
        case added
        case name
        /// The size of the whole; those whose size is unknown last.
        case size
        /// By the state's word.
        case state
    }

    package enum Order: String, Sendable, Hashable, CaseIterable { case asc, desc }

    /// State words, by commas; `nil` for any.
    package var states: [String]?
    /// A text in the name, the URL or the label; letters of either case.
    package var search: String?
    package var sort = Sort.queue
    package var order = Order.asc
    package var offset = 0
    /// 1 … ``FerryAPI/mostEntries``.
    package var limit = 100
    /// A session, or ``FerryAPI/everySession``; `nil` for the client's own.
    package var session: String?

    package init() {}

    /// The query, without `?`; members that have their default are left out.
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
