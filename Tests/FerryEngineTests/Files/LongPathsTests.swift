import FerryCore
import SystemPackage
import Testing

@testable import FerryEngine

@Suite("Paths of a download with a long name")
struct LongPathsTests {
    private static func paths(_ name: String) throws -> DownloadPaths {
        try #require(DownloadPaths(directory: "/d", name: name))
    }

    private static func all(_ paths: DownloadPaths) -> [String] {
        [paths.final, paths.part, paths.journal, paths.oldPart, paths.oldJournal, paths.newJournal]
            .map { $0.lastComponent?.string ?? "" }
    }

    @Test("DownloadPaths: every legal name has part file, journal and backup with legal names", arguments: 1...255)
    func legal(length: Int) throws {
        for letter in ["a", "é", "漢", "👩‍🚀"] {
            var name = String(repeating: letter, count: length / letter.utf8.count)
            name += String(repeating: "b", count: length - name.utf8.count)
            let names = try Self.all(Self.paths(name))
            #expect(names.allSatisfy { $0.utf8.count <= 255 }, "\(names)")
            #expect(Set(names).count == 6)
            #expect(names[0] == name)
            #expect(names[1].utf8.hasSuffix(".part"))
            #expect(names[2] == names[1] + ".ferry")
            let part = try Self.paths(name).part
            let derived = try #require(DownloadPaths(of: part))
            #expect(derived.part == part && derived.isShortened == (names[1] != name + ".part"))
            #expect(DownloadPaths(final: FilePath("/d/" + name))?.part == part)
        }
    }

    @Test("DownloadPaths: names that leave room for a journal keep the names of their files as they are")
    func whole() throws {
        let name = String(repeating: "a", count: 240)
        #expect(try Self.paths(name).part.string == "/d/\(name).part")
        #expect(try Self.paths(name).newJournal.string == "/d/\(name).part.ferry.new")
        #expect(try Self.paths(name).oldJournal.string == "/d/\(name).part.ferry.old")
    }

    @Test("DownloadPaths: long names that differ only at their end have part files of their own, always the same ones")
    func distinct() throws {
        let begin = String(repeating: "a", count: 254)
        let one = try Self.paths(begin + "1")
        let two = try Self.paths(begin + "2")
        #expect(one.part != two.part)
        #expect(one.oldPart != two.oldPart)
        #expect(try Self.paths(begin + "1").part == one.part)
        let derived = try #require(DownloadPaths(of: one.part))
        #expect(derived.isShortened)
        #expect(derived.part == one.part && derived.journal == one.journal)
        #expect(try !Self.paths(begin + "1").isShortened)
    }
}
