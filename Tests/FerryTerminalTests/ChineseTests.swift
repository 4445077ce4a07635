import Ferry
import FerryCore
import FerryTerminal
import FerryTesting
import Foundation
import Testing

@Suite("Texts of the command line in Chinese") struct ChineseTests {
    /// A reader of Swift source.
    private struct Source {
        var rest: Substring

        /// Reads interpolated literals that are joined with `+`. Returns their pattern; `nil` if there is none.
        mutating func pattern() -> String? {
            var (pattern, holes) = ("", 0)
            skipBlanks()
            guard rest.first == "\"", !rest.hasPrefix("\"\"\"") else { return nil }
            while rest.first == "\"" {
                rest.removeFirst()
                while let next = rest.popFirst(), next != "\"" {
                    guard next == "\\", let escaped = rest.popFirst() else {
                        pattern.append(next)
                        continue
                    }
                    if escaped == "(" {
                        skipHole()
                        pattern += "{\(holes)}"
                        holes += 1
                    } else {
                        pattern.append(escaped)
                    }
                }
                skipBlanks()
                guard rest.first == "+" else { break }
                rest.removeFirst()
                skipBlanks()
            }
            return pattern
        }

        private mutating func skipBlanks() { rest = rest.drop { $0.isWhitespace } }

        private mutating func skipHole() {
            var depth = 1
            while depth > 0, let next = rest.popFirst() {
                if next == "(" { depth += 1 } else if next == ")" { depth -= 1 }
            }
        }
    }

    /// The patterns of the texts in the sources: those of errors, and literals that are declared as reasons.
    private static func patterns() throws -> Set<String> {
        var found: Set<String> = []
        for folder in ["FerryTerminal", "FerryAria2", "FerryFleet", "FerryCore/Text", "FerryCore/Auth"] {
            let files = FileManager.default.enumerator(
                at: Repository.url("Sources/" + folder), includingPropertiesForKeys: nil)
            for case let file as URL in try #require(files) where file.pathExtension == "swift" {
                let text = try String(contentsOf: file, encoding: .utf8)
                for start in [
                    "UsageError(", "DatabaseError(", "report.message(", "TextError(", ": Reason =",
                    "let text: Reason =",
                ] {
                    for range in text.ranges(of: start) {
                        var source = Source(rest: text[range.upperBound...])
                        if let pattern = source.pattern() { found.insert(pattern) }
                    }
                }
                // `("…" as Reason)`: the literal before.
                for range in text.ranges(of: "(\"") {
                    var source = Source(rest: text[text.index(before: range.upperBound)...])
                    if let pattern = source.pattern(), source.rest.hasPrefix("as Reason)") { found.insert(pattern) }
                }
            }
        }
        return found
    }

    @Test("Chinese: every text of the command line has a Chinese form with the same holes")
    func complete() throws {
        let patterns = try Self.patterns()
        #expect(patterns.count > 100)
        let onlyHoles = patterns.filter { $0.allSatisfy { "{}0123456789: ".contains($0) } }
        #expect(patterns.subtracting(onlyHoles).filter { SentenceTable.chinesePatterns[$0] == nil }.sorted() == [])
        for (english, chinese) in SentenceTable.chinesePatterns {
            func holes(_ text: String) -> [String] { (0..<9).map { "{\($0)}" }.filter(text.contains) }
            #expect(holes(english) == holes(chinese), "\(english)")
        }
    }

    @Test("Reason: a text is translated with its holes, and what fills them is not")
    func holes() {
        let path = "size"
        let reason: Reason = "there is no part file \(path)"
        #expect(reason.text(in: .simplifiedChinese) == "没有部分文件 size")
        #expect(reason.text(in: .english) == "there is no part file size")
        let nested: Reason = "line \(3): \(TextError("the option \("out") has no value"))"
        #expect(nested.text(in: .simplifiedChinese) == "第 3 行：选项 out 没有值")
        let joined: Reason = "\("a") is a file and not a part file; " + "to read URLs from it use -i"
        #expect(joined.text(in: .simplifiedChinese) == "a 是文件而不是部分文件；要从中读取网址请用 -i")
    }
}
