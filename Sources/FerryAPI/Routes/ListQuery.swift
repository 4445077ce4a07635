package import FerryCore

/// The query of `GET /downloads`.
package struct ListQuery: Sendable, Hashable {
    package enum Order: String, Sendable, Hashable, CaseIterable { case asc, desc }

    /// Names of states, comma-separated in the query; `nil` for all.
    package var states: [String]?
    /// A case-insensitive search in name, URL and label.
    package var search: String?
    package var sort = ListSort.queue
    package var order = Order.asc
    package var offset = 0
    /// The maximum number of entries, from 1 to ``most``.
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

/// The parsed query of a request. Repeated and unknown names are refused.
package struct QueryItems: Sendable, Hashable {
    private let values: [String: String]

    /// Parses a query without its `?`; `query` is `nil` if there is none. `known` contains the permitted names.
    package init(_ query: Substring?, known: Set<String>) throws(Problem) {
        var values: [String: String] = [:]
        for pair in (query ?? "").split(at: "&") {
            let parts = pair.split(at: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let plain = parts.map { Route.decoded(Substring($0.replacing("+", by: " "))) }
            guard let name = plain[0], let value = plain.count > 1 ? plain[1] : "" else {
                throw Problem(.badRequest, "The query cannot be read.")
            }
            guard known.contains(name) else {
                throw Problem(.badRequest, "The query has \(ForeignText.quote(name)), which is not known.")
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw Problem(.badRequest, "The query has \(ForeignText.quote(name)) twice.")
            }
        }
        self.values = values
    }

    package func text(_ name: String) -> String? { values[name] }

    package func number(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = values[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw Problem(
                .badRequest, "\(name) must be a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    package func flag(_ name: String) throws(Problem) -> Bool? {
        switch values[name] {
        case nil: return nil
        case "true", "1", "": return true
        case "false", "0": return false
        default: throw Problem(.badRequest, "\(name) must be true or false.")
        }
    }

    package func word<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String, as type: Word.Type
    ) throws(Problem) -> Word? {
        guard let text = values[name] else { return nil }
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem(.badRequest, "\(name) must be one of \(words).")
        }
        return word
    }
}

extension ListQuery {
    package static let names: Set<String> = ["state", "search", "sort", "order", "offset", "limit", "session"]

    package init(_ items: QueryItems) throws(Problem) {
        self.init()
        if let text = items.text("state"), !text.isEmpty {
            states = text.split(at: ",").map(String.init)
        }
        search = items.text("search")
        guard (search?.utf8.count ?? 0) <= 1000 else { throw Problem(.badRequest, "search has at most 1000 bytes.") }
        if let word = try items.word("sort", as: ListSort.self) { sort = word }
        if let word = try items.word("order", as: Order.self) { order = word }
        if let number = try items.number("offset", in: 0...Self.most) { offset = number }
        if let number = try items.number("limit", in: 1...Self.most) { limit = number }
        session = items.text("session")
    }
}
