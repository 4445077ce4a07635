import Foundation
import Testing

@testable import FerryCore

@Suite("Sentence table")
struct SentenceTableTests {
    typealias Key = ErrorPhrase.Key

    @Test("SentenceTable: every key has a row, is used, and gets as many arguments as it has placeholders")
    func complete() throws {
        #expect(Set(SentenceTable.rows.keys) == Set(Key.allCases))
        var holes: [Key: Int] = [:]
        for (key, texts) in SentenceTable.rows {
            let numbers = Self.holes(of: texts.english)
            #expect(numbers == Set(0..<numbers.count), "\(key): \(texts.english)")
            #expect(numbers == Self.holes(of: texts.simplifiedChinese), "\(key): \(texts.simplifiedChinese)")
            holes[key] = numbers.count
        }
        var seen = 0
        var unused = Set(Key.allCases)
        for (name, text) in try Self.sources() {
            unused.subtract(Self.members(in: text).compactMap(Key.init))
            for use in Self.uses(in: text) {
                seen += 1
                #expect(use.arguments == holes[use.key], "\(name): \(use.key)")
            }
        }
        #expect(unused.isEmpty)
        #expect(seen > 300, "the sources are not where they were")
    }

    @Test("SentenceTable: no suggestion to the users of an app names an option or command of the program")
    func appSuggestions() throws {
        let suggestions = Set(SentenceTable.suggestions.keys).union(SentenceTable.setSuggestions.keys)
        var own = Set(SentenceTable.appSuggestions.keys)
        for (name, text) in try Self.sources() {
            let modules = ["Ferry/", "FerryCore/", "FerryEngine/", "FerryClient/"]
            guard modules.contains(where: name.hasPrefix) else { continue }
            own.formUnion(Self.members(in: text).compactMap(Key.init).filter(suggestions.contains))
        }
        #expect(own.count > 40, "the sources are not where they were")
        for key in own {
            let holes = Self.holes(of: SentenceTable.rows[key]?.english ?? "")
            let phrase = ErrorPhrase(key: key, arguments: holes.sorted().map { "<\($0)>" })
            for language in Language.allCases {
                let text = phrase.textForApps(in: language)
                for word in ["--", "-o", "ferry list", "ferry get", "ferry set", "ferry work", "FERRY_", "AWS_"] {
                    #expect(!text.contains(word), "\(key): \(text)")
                }
                for hole in holes { #expect(text.contains("<\(hole)>"), "\(key): \(text)") }
            }
        }
    }

    @Test("SentenceTable: the scanner of sources handles nesting, commas, interpolations and line breaks")
    func scanning() {
        let text = #"""
            throw E(.network, ErrorPhrase(.gaveUp, "\(f(1, 2)), \"", Reason(.stopped)), suggestion: ErrorPhrase(.runAgain))
            ErrorPhrase(
                .at, [a, b], { c, d in c }), PauseReason(.stopped)
            """#
        let uses = Dictionary(uniqueKeysWithValues: Self.uses(in: text).map { ($0.key, $0.arguments) })
        #expect(uses == [.gaveUp: 2, .stopped: 0, .runAgain: 0, .at: 2])
        #expect(Self.members(in: text) == ["network", "gaveUp", "stopped", "runAgain", "at"])
    }

    /// The sources, without the declarations of the keys and the rows.
    private static func sources() throws -> [(name: String, text: String)] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")
        return try FileManager.default.subpathsOfDirectory(atPath: root.path)
            .filter { $0.hasSuffix(".swift") && !$0.contains("/SentenceTable") && !$0.hasSuffix("/ErrorPhrase.swift") }
            .map { ($0, try String(contentsOf: root.appending(path: $0), encoding: .utf8)) }
    }

    /// The numbers in `{0}`, `{1}`, ….
    private static func holes(of pattern: String) -> Set<Int> {
        Set(
            pattern.split(separator: "{", omittingEmptySubsequences: false).dropFirst().compactMap {
                $0.first?.wholeNumberValue
            })
    }

    /// The identifiers that follow a dot.
    private static func members(in text: String) -> Set<String> {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return Set(parts.dropFirst().map { String(Substring($0.prefix(while: isWord))) })
    }

    /// `ErrorPhrase(.key, …)` and `Reason(.key, …)`.
    private static func uses(in text: String) -> [(key: Key, arguments: Int)] {
        ["ErrorPhrase(", "Reason("].flatMap { call in
            text.ranges(of: call).compactMap { range in
                if let before = text[..<range.lowerBound].utf8.last, isWord(before) { return nil }
                let inside = text[range.upperBound...].drop(while: \.isWhitespace)
                guard inside.first == "." else { return nil }
                let name = inside.utf8.dropFirst().prefix(while: isWord)
                guard let key = Key(rawValue: String(Substring(name))) else { return nil }
                var rest = text.utf8[name.endIndex...]
                return (key, skipArguments(of: &rest))
            }
        }
    }

    /// Moves behind the parenthesis that closes a list of arguments; returns the number of commas of that list.
    private static func skipArguments(of rest: inout Substring.UTF8View) -> Int {
        var (commas, depth) = (0, 0)
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
                if depth == 0 { return commas }
                depth -= 1
            case UInt8(ascii: ",") where depth == 0: commas += 1
            case UInt8(ascii: "\""): skipString(of: &rest)
            default: break
            }
        }
        return commas
    }

    private static func skipString(of rest: inout Substring.UTF8View) {
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "(") { _ = skipArguments(of: &rest) }
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || byte >= 0x80 || Character(Unicode.Scalar(byte)).isLetter
            || Character(Unicode.Scalar(byte)).isNumber
    }
}
