/// Which rows are meant; by default all.
package struct RowFilter: Sendable, Hashable {
    /// Only these states; `nil` for any.
    package var kinds: Set<StateKind>?
    /// Only downloads of one session; `nil` for any.
    package var session: String?
    /// Only those with this text in their name, first URL or label; ASCII letters of either case. `nil` or empty for any.
    package var search: String?

    package init(kinds: Set<StateKind>? = nil, session: String? = nil, search: String? = nil) {
        self.kinds = kinds
        self.session = session
        self.search = search
    }

    /// Every row.
    package static let all = RowFilter()

    /// Whether this row is meant.
    package func passes(_ row: CatalogueRow) -> Bool {
        if let kinds, !kinds.contains(StateKind(row.state)) { return false }
        if let session, session != row.session { return false }
        guard let search, !search.isEmpty else { return true }
        let wanted = Self.plain(search)
        return [row.name, row.request.sources.first?.text, row.label].contains { text in
            text.map { Self.plain($0).firstRange(of: wanted) != nil } ?? false
        }
    }

    /// As LIKE of SQLite compares: byte by byte, ASCII letters of either case alike.
    private static func plain(_ text: String) -> [UInt8] {
        text.utf8.map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
    }
}
