import Foundation

/// A document of the folder docs, for tests that compare it with the program.
package struct Documentation {
    private let lines: [Substring]

    package init(_ name: String) throws {
        lines = try Repository.text("docs/" + name).split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// The first cells of all rows, of all tables, in which it begins so.
    package func firstCells(beginning start: String) -> [String] {
        lines.filter { $0.hasPrefix("| " + start) }.map { String($0.split(separator: "|")[0]) }
    }

    /// The rows of the table with this head, cells without blanks and back quotes; none without such a table.
    ///
    /// - Parameter index: Which of the tables with this head; the first is 0.
    package func rows(after head: String, at index: Int = 0) -> [[String]] {
        let starts = lines.indices.filter { lines[$0].hasPrefix(head) }
        guard let start = starts.dropFirst(index).first else { return [] }
        return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces).replacing("`", with: "") }
        }
    }
}
