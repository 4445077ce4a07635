/// A filter of rows; by default all match.
package struct RowFilter: Sendable, Hashable {
    /// Match only these states; `nil` for any.
    package var kinds: Set<StateKind>?
    /// Match only these downloads; `nil` for any.
    package var ids: Set<DownloadID>?
    /// Match only downloads that have a path, and may so have files; by default all.
    package var hasPath = false
    /// Match only downloads of one session; `nil` for any.
    package var session: String?
    /// Match only rows with this text in their name, first URL or label, ignoring ASCII case; `nil` or empty for any.
    package var search: String?

    package init(
        kinds: Set<StateKind>? = nil, ids: Set<DownloadID>? = nil, hasPath: Bool = false, session: String? = nil,
        search: String? = nil
    ) {
        self.kinds = kinds
        self.ids = ids
        self.hasPath = hasPath
        self.session = session
        self.search = search
    }

    /// Matches every row.
    package static let all = RowFilter()

    /// Whether a row matches.
    package func passes(_ row: CatalogueRow) -> Bool {
        if let kinds, !kinds.contains(StateKind(row.state)) { return false }
        if let ids, !ids.contains(row.id) { return false }
        if hasPath, row.path == nil { return false }
        if let session, session != row.session { return false }
        guard let search, !search.isEmpty else { return true }
        let wanted = Self.plain(search)
        return [row.name, row.request.sources.first?.text, row.label].contains { text in
            text.map { Self.plain($0).firstRange(of: wanted) != nil } ?? false
        }
    }

    /// Folds ASCII case, as LIKE of SQLite does, which compares byte by byte.
    private static func plain(_ text: String) -> [UInt8] {
        text.utf8.map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
    }
}
