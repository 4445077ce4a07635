import Testing

@testable import FerryCore

@Suite("KeptName") struct KeptNameTests {
    @Test(
        "KeptName: a name that this system and Ferry can have stays as it is",
        arguments: [
            ".zattrs", ".zarray", ".hidden", "-dash", "--", "2024-01-01T00:00:00.parquet", "a?b", "x|y", "a*b", "q\"q",
            "<a>", "con.txt", "nul", "trail.", " lead", "trail ", "...x", "caf\u{E9}", "cafe\u{301}",
            "\u{928}\u{94D}\u{200D}\u{92F}", ".git", "a.news", String(repeating: "x", count: 255),
        ])
    func kept(name: String) { #expect(KeptName.make(name)?.utf8.elementsEqual(name.utf8) == true) }

    @Test(
        "KeptName: a name that leads elsewhere, deceives or means something to Ferry is changed",
        arguments: [
            ("a/b", "a_b"), ("a\\b", "a_b"), ("a\nb", "a_b"), ("a\u{0}b", "a_b"), ("\u{1B}[2J", "_[2J"),
            ("\u{202E}gpj.exe", "_gpj.exe"), ("a\u{FFFD}b", "a_b"), ("...", "..._"), (".. ", ".. _"), ("  ", "  _"),
            ("\u{301}a", "_\u{301}a"), ("a.part", "a.part_"), ("A.Part.Ferry", "A.Part.Ferry_"),
            ("ferry-manifest.jsonl", "ferry-manifest.jsonl_"), (".incoming-ab", "_incoming-ab"),
            (".ferry-1.tmp", "_ferry-1.tmp"), (".x.ferry-digests", ".x.ferry-digests_"),
        ])
    func changed(name: String, expected: String) {
        let made = KeptName.make(name)
        #expect(made?.utf8.elementsEqual(expected.utf8) == true, "\(made ?? "nil")")
    }

    @Test("KeptName: the empty name and those of directories are refused", arguments: ["", ".", ".."])
    func refused(name: String) { #expect(KeptName.make(name) == nil) }

    @Test(
        "KeptName: no form of any name that means something to Ferry is left to a source",
        arguments: ReservedName.allCases)
    func harmless(kind: ReservedName) {
        for form in ReservedNameTests.names(kind).flatMap(ReservedNameTests.forms) {
            for given in [form, form + ".", " " + form, "\u{FE0F}" + form, String(repeating: "x", count: 300) + form] {
                guard let name = KeptName.make(given) else { continue }
                #expect(ReservedName(name) == nil, "\(given) is \(name)")
                #expect(KeptName.make(name)?.utf8.elementsEqual(name.utf8) == true, "\(name)")
            }
        }
    }

    @Test(
        "KeptName: what it makes of random names is stable and a bare name, and safe names are kept",
        arguments: 0..<20 as Range<UInt64>)
    func random(seed: UInt64) {
        var random = SeededBytes(seed: seed)
        let pieces = [
            "a", ".", "..", " ", "-", "/", "\\", ".part", ".ferry", ".old", "\u{301}", "\u{200D}", "\u{FE0F}", "\n",
            ":", "\u{E0080}",
            ".incoming-", ".ferry-", "ferry-manifest.jsonl", "\u{6587}", String(repeating: "y", count: 120),
        ]
        for _ in 0..<300 {
            let given = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &random)]
            }.joined()
            if let safe = SafeName.sanitize(given) {
                #expect(KeptName.make(safe)?.utf8.elementsEqual(safe.utf8) == true, "\(safe)")
            }
            guard let name = KeptName.make(given) else { continue }
            #expect(KeptName.make(name)?.utf8.elementsEqual(name.utf8) == true, "\(seed): \(given)")
            #expect(!name.isEmpty && name != "." && name != ".." && name.utf8.count <= 255)
            #expect(!name.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "/") || $0 < 0x20 }, "\(seed): \(given)")
            #expect(ReservedName(name) == nil, "\(seed): \(given)")
        }
    }
}
