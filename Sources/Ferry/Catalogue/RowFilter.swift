package import FerryCore

/// A filter of rows. By default, every row matches.
package struct RowFilter: Sendable, Hashable {
    /// The states to match; `nil` for any.
    package var kinds: Set<StateKind>?
    /// The downloads to match; `nil` for any.
    package var ids: Set<DownloadID>?
    /// Whether to match only downloads that may have files, because they have a path or had one before they were restarted.
    /// Default: false.
    package var hasFiles = false
    /// The session whose downloads match; `nil` for any.
    package var session: String?
    /// The text that the name, first URL or label must contain, ignoring ASCII case; `nil` or empty for any.
    package var search: String?

    package init(
        kinds: Set<StateKind>? = nil, ids: Set<DownloadID>? = nil, hasFiles: Bool = false, session: String? = nil,
        search: String? = nil
    ) {
        self.kinds = kinds
        self.ids = ids
        self.hasFiles = hasFiles
        self.session = session
        self.search = search
    }

    /// Matches every row.
    package static let all = RowFilter()

    /// Whether a row matches.
    package func passes(_ row: CatalogueRow) -> Bool {
        if let kinds, !kinds.contains(StateKind(row.state)) { return false }
        if let ids, !ids.contains(row.id) { return false }
        if hasFiles, row.path == nil, row.published == nil { return false }
        if let session, session != row.session { return false }
        guard let search, !search.isEmpty else { return true }
        let wanted = Self.plain(search)
        return [row.name, row.request.sources.first?.text, row.label].contains { text in
            text.map { Self.plain($0).firstRange(of: wanted) != nil } ?? false
        }
    }

    /// Returns the UTF-8 bytes of a text with ASCII case folded, as SQLite's LIKE folds it.
    private static func plain(_ text: String) -> [UInt8] {
        text.utf8.map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
    }
}

extension RowFilter {
    /// The `WHERE` clause, which begins with a space; empty if every row matches.
    var clause: String {
        var terms: [String] = []
        if let kinds {
            // Raw values are fixed words, which need no escaping. They are sorted, so that few distinct statements are prepared.
            let list = kinds.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
            terms.append("state IN (\(list))")
        }
        if ids != nil { terms.append("id IN (SELECT value FROM json_each(?))") }
        if hasFiles { terms.append("(path IS NOT NULL OR published IS NOT NULL)") }
        if session != nil { terms.append("session = ?") }
        if pattern != nil {
            terms.append(#"(name LIKE ? ESCAPE '\' OR url LIKE ? ESCAPE '\' OR label LIKE ? ESCAPE '\')"#)
        }
        return terms.isEmpty ? "" : " WHERE " + terms.joined(separator: " AND ")
    }

    var arguments: Database.Arguments {
        get throws {
            var arguments: Database.Arguments = []
            if let ids { arguments.append(try StoredText.text(ids.map(\.rawValue))) }
            if let session { arguments.append(session) }
            if let pattern { arguments += [pattern, pattern, pattern] }
            return arguments
        }
    }

    /// The search text as a LIKE pattern.
    private var pattern: String? {
        guard let search, !search.isEmpty else { return nil }
        var pattern = "%"
        for scalar in search.unicodeScalars {
            // Stored texts contain no NUL, so no row can match. SQLite would end the pattern at the NUL.
            if scalar == "\0" { return "" }
            if scalar == "%" || scalar == "_" || scalar == "\\" { pattern += "\\" }
            pattern.unicodeScalars.append(scalar)
        }
        return pattern + "%"
    }
}

extension RowOrder {
    /// The `ORDER BY` clause.
    var clause: String {
        let direction = isDescending ? " DESC" : ""
        let first =
            switch column {
            case .queue:
                isDescending ? "priority, position DESC, id DESC" : nil as String?
            case .added: "createdAt\(direction)"
            case .name: "name COLLATE NOCASE\(direction)"
            case .size: "total IS NULL, total\(direction)"
            case .state: "state\(direction)"
            }
        return "ORDER BY " + (first.map { $0 + ", " } ?? "") + "priority DESC, position, id"
    }
}

/// An order of rows. Rows that compare equal are in list order, whether the order is ascending or descending. States are compared
/// by the raw values of ``StateKind``.
package struct RowOrder: Sendable, Hashable {
    package var column: ListSort
    package var isDescending: Bool

    package init(_ column: ListSort, isDescending: Bool = false) {
        self.column = column
        self.isDescending = isDescending
    }

    /// List order.
    package static let queue = RowOrder(.queue)

    /// Whether a row precedes another by the column alone; `nil` if the two compare equal.
    func isBefore(_ left: CatalogueRow, _ right: CatalogueRow) -> Bool? {
        switch column {
        case .queue: return nil
        case .added: return order(left.createdAt.storedSeconds, right.createdAt.storedSeconds)
        case .name: return order(Self.plain(left.name), Self.plain(right.name)) { $0.lexicographicallyPrecedes($1) }
        case .size:
            guard let one = left.totalBytes, let other = right.totalBytes else {
                return (left.totalBytes == nil) == (right.totalBytes == nil) ? nil : left.totalBytes != nil
            }
            return order(one, other)
        case .state: return order(StateKind(left.state).rawValue, StateKind(right.state).rawValue)
        }
    }

    private func order<Value: Comparable>(_ one: Value, _ other: Value) -> Bool? { order(one, other) { $0 < $1 } }

    private func order<Value: Equatable>(_ one: Value, _ other: Value, by less: (Value, Value) -> Bool) -> Bool? {
        if one == other { return nil }
        return less(one, other) != isDescending
    }

    private static func plain(_ text: String) -> [UInt8] {
        text.utf8.map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
    }
}
