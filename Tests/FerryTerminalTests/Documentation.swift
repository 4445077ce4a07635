import Foundation
import Testing

/// A document of the folder docs, for tests that compare it with the program.
struct Documentation {
    private let lines: [Substring]

    init(_ name: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/" + name), encoding: .utf8)
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// The first cells of all rows, of all tables, in which it begins so.
    func firstCells(beginning start: String) -> [String] {
        lines.filter { $0.hasPrefix("| " + start) }.map { String($0.split(separator: "|")[0]) }
    }

    /// The rows of the table with this head, cells without blanks and back quotes.
    ///
    /// - Parameter index: Which of the tables with this head; the first is 0.
    func rows(after head: String, at index: Int = 0) throws -> [[String]] {
        let starts = lines.indices.filter { lines[$0].hasPrefix(head) }
        let start = try #require(starts.dropFirst(index).first)
        return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces).replacing("`", with: "") }
        }
    }
}
