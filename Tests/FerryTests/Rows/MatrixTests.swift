import FerryTesting
import Foundation
import Testing

/// Every row of servers (A) and of machines (B) has a test with its number in the title.
@Suite("Matrix of rows and tests") struct MatrixTests {
    /// The targets with servers on the wire: each server row needs a test there, a machine row anywhere.
    private static let wire = ["FerryEngineTests", "FerryTests", "FerryCLITests"]

    @Test("Matrix: every server row A1–A48, A60–A76 has a test on the wire, and every machine row B1–B15 has a test")
    func whole() throws {
        let root = Repository.url("Tests")
        var found: [String: Set<String>] = [:]
        for target in try FileManager.default.contentsOfDirectory(atPath: root.path) {
            let folder = root.appending(path: target)
            guard let files = FileManager.default.enumerator(atPath: folder.path) else { continue }
            for case let file as String in files
            where file.hasSuffix("Tests.swift") && !file.hasSuffix("MatrixTests.swift") {
                let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
                for row in Self.rows(in: text) { found[row, default: []].insert(target) }
            }
        }
        try #require(!found.isEmpty, "no sources of tests at \(root.path)")
        let numbers = Array(1...48) + Array(60...76)
        let servers = numbers.map { "A\($0)" }.filter { found[$0, default: []].isDisjoint(with: Self.wire) }
        let machine = (1...15).map { "B\($0)" }.filter { found[$0] == nil }
        #expect(servers + machine == [])
    }

    @Test(
        "Matrix: row numbers are found at the start or in brackets of titles, and nowhere else",
        arguments: [
            ("@Test(\"A3, A5–A7: x\")", ["A3", "A5", "A6", "A7"]), ("Row(\"A24: two lengths\")", ["A24"]),
            ("@Suite(\"A digest (A45)\")", ["A45"]), ("@Test(\"x (A38, B11)\")", ["A38", "B11"]),
            ("etag: \"A1\"", []), ("// A7: nothing", []), ("\"(A) and B12\"", []), ("\"C1, B3: y\"", ["B3"]),
        ] as [(String, [String])])
    func numbers(text: String, rows: [String]) {
        #expect(Self.rows(in: text).sorted() == rows.sorted())
    }

    /// The row numbers before a colon at the start of a string, or in round brackets inside one.
    private static func rows(in text: String) -> Set<String> {
        let beginning = /"((?:[ABCD][0-9]+(?:–[ABCD]?[0-9]+)?(?:, )?)+):/
        let bracketed = /"[^"\n]*\(((?:[ABCD][0-9]+(?:–[ABCD]?[0-9]+)?(?:, )?)+)\)[^"\n]*"/
        var rows: Set<String> = []
        let lists = text.matches(of: beginning).map(\.1) + text.matches(of: bracketed).map(\.1)
        for list in lists {
            for item in list.split(separator: ", ") {
                let ends = item.split(separator: "–").map { $0.drop { !$0.isNumber } }.compactMap { Int($0) }
                guard let letter = item.first, "AB".contains(letter), let first = ends.first, let last = ends.last,
                    first <= last
                else { continue }
                for number in first...last { rows.insert("\(letter)\(number)") }
            }
        }
        return rows
    }
}
