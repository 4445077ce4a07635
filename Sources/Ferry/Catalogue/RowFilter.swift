/// Which rows are meant; by default all.
package struct RowFilter: Sendable, Hashable {
    /// Only these states; `nil` for any.
    package var kinds: Set<StateKind>?
    /// Only downloads of this session; `nil` for any.
    package var session: String?

    package init(kinds: Set<StateKind>? = nil, session: String? = nil) {
        self.kinds = kinds
        self.session = session
    }

    /// Every row.
    package static let all = RowFilter()

    /// Whether this row is meant.
    package func passes(_ row: CatalogueRow) -> Bool {
        if let kinds, !kinds.contains(StateKind(row.state)) { return false }
        return session == nil || session == row.session
    }
}
