import FerryAPI
import GRDB

extension RowFilter {
    /// `WHERE …`; empty for all rows.
    var clause: String {
        var terms: [String] = []
        if let kinds {
            // Fixed words, sorted so that few distinct statements are prepared.
            let list = kinds.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
            terms.append("state IN (\(list))")
        }
        if ids != nil { terms.append("id IN (SELECT value FROM json_each(?))") }
        if hasPath { terms.append("path IS NOT NULL") }
        if session != nil { terms.append("session = ?") }
        if pattern != nil {
            terms.append(#"(name LIKE ? ESCAPE '\' OR url LIKE ? ESCAPE '\' OR label LIKE ? ESCAPE '\')"#)
        }
        return terms.isEmpty ? "" : " WHERE " + terms.joined(separator: " AND ")
    }

    var arguments: StatementArguments {
        get throws {
            var arguments: StatementArguments = []
            if let ids { arguments += [try StoredText.text(ids.map(\.rawValue))] }
            if let session { arguments += [session] }
            if let pattern { arguments += [pattern, pattern, pattern] }
            return arguments
        }
    }

    /// The search text as pattern of LIKE.
    private var pattern: String? {
        guard let search, !search.isEmpty else { return nil }
        var pattern = "%"
        for scalar in search.unicodeScalars {
            // Stored texts contain no NUL, at which the pattern would end.
            if scalar == "\0" { return "" }
            if scalar == "%" || scalar == "_" || scalar == "\\" { pattern += "\\" }
            pattern.unicodeScalars.append(scalar)
        }
        return pattern + "%"
    }
}

extension RowOrder {
    /// `ORDER BY …`.
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
