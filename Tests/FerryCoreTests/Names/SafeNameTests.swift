import Testing

@testable import FerryCore

@Suite("Names of files from servers")
struct SafeNameTests {
    @Test(
        "SafeName: the last path segment is used, and dots or spaces alone give nil",
        arguments: [
            ("a.zip", "a.zip"), ("../a.zip", "a.zip"), ("/etc/passwd", "passwd"), ("a\\..\\b", "b"), ("a/../b", "b"),
            ("C:\\dir\\a.zip", "a.zip"), ("..\\../a", "a"), ("a/", nil), ("a\\", nil), ("/", nil), ("\\", nil),
            ("", nil),
            (".", nil), ("..", nil), ("...", nil), ("../..", nil), ("x/..", nil), (" ", nil), (" . ", nil),
            (". .", nil),
            ("\u{3000}", nil), ("~", "~"), ("~root", "~root"), ("$HOME", "$HOME"),
        ] as [(String, String?)])
    func lastSegment(given: String, expected: String?) {
        #expect(SafeName.sanitize(given) == expected)
    }

    @Test(
        "SafeName: control, bidirectional and reserved characters, names and suffixes are replaced",
        arguments: [
            ("a\u{0}b\u{1B}c\u{7F}d\u{85}e", "a_b_c_d_e"), ("a\nb\tc", "a_b_c"), ("a\u{202E}gpj.exe", "a_gpj.exe"),
            ("\u{2066}a\u{2069}\u{200E}\u{200F}\u{61C}", "_a____"), ("a\u{200B}b\u{FEFF}c\u{AD}d", "a_b_c_d"),
            ("a\u{2028}b\u{2029}c", "a_b_c"), ("a\u{FFFD}b\u{FFFF}", "a_b_"), ("a\u{E0041}b", "a_b"),
            ("a<b>c:d\"e|f?g*h", "a_b_c_d_e_f_g_h"), ("-rf", "_rf"), ("--help", "_-help"), (".bashrc", "_bashrc"),
            ("..a", "_.a"), ("a.", "a"), ("a. . ", "a"), (" a ", "a"), ("\u{A0}a\u{3000}", "a"), (" -a", "_a"),
            ("a.txt ", "a.txt"), ("CON", "CON_"), ("con", "con_"), ("con.txt", "con_.txt"),
            ("Con .tar.gz", "Con _.tar.gz"),
            ("nul", "nul_"), ("COM1", "COM1_"), ("com0.x", "com0_.x"), ("LPT9.a.b", "LPT9_.a.b"), ("com¹", "com¹_"),
            ("com10", "com10"), ("COM", "COM"), ("console", "console"), ("aux.", "aux_"), ("CONIN$", "CONIN$_"),
            ("文件 1.zip", "文件 1.zip"), ("😀.png", "😀.png"), ("e\u{301}.txt", "e\u{301}.txt"),
            ("a.part", "a.part_"), ("a.PART", "a.PART_"), ("a.part.ferry", "a.part.ferry_"),
            ("a.part.old", "a.part.old_"),
            ("a.part.ferry.old", "a.part.ferry.old_"), ("a.old", "a.old_"), ("a.ferry", "a.ferry_"), (".part", "_part"),
            ("a.part.", "a.part_"), ("a.part ", "a.part_"), ("a.part1.rar", "a.part1.rar"), ("part", "part"),
            ("a.part_", "a.part_"), ("household", "household"),
            // After a slash each of these would combine with it.
            ("\u{301}x.zip", "_\u{301}x.zip"), ("d/\u{338}x", "_\u{338}x"), ("\u{903}x", "_\u{903}x"),
            ("\u{FE0F}x", "_\u{FE0F}x"), ("\u{1F3FB}x", "_\u{1F3FB}x"), ("-\u{301}x", "_\u{301}x"),
        ])
    func replaced(given: String, expected: String) {
        #expect(SafeName.sanitize(given) == expected)
    }

    @Test(
        "SafeName: joiners stay between characters that they shape, and are replaced elsewhere",
        arguments: [
            ("👩‍👩‍👧‍👦.png", "👩‍👩‍👧‍👦.png"), ("🏳️‍🌈.png", "🏳️‍🌈.png"), ("👩🏽‍⚕️.png", "👩🏽‍⚕️.png"),
            ("می‌خواهم.pdf", "می‌خواهم.pdf"), ("क्‍ष.txt", "क्‍ष.txt"),
            ("a\u{200D}b\u{200C}c", "a_b_c"), ("é\u{200D}é", "é_é"), ("文\u{200C}件", "文_件"), ("я\u{200D}я", "я_я"),
            ("می\u{200C}", "می_"), ("\u{200C}می", "_می"), ("می\u{200C}.pdf", "می_.pdf"), ("می\u{200C}a", "می_a"),
            ("می\u{200C}\u{200C}خ", "می__خ"), ("می\u{200C}\u{202E}خ", "می__خ"), ("می\u{200C} خ", "می_ خ"),
            ("👩\u{200D}a", "👩_a"), ("1\u{200D}2", "1_2"),
        ])
    func joiners(given: String, expected: String) {
        #expect(SafeName.sanitize(given).map { Array($0.unicodeScalars) } == Array(expected.unicodeScalars))
    }

    @Test("SafeName: no joiner is left where a name is cut", arguments: 0..<6)
    func cutBesideJoiner(shift: Int) throws {
        let given = String(repeating: "a", count: shift) + String(repeating: "می\u{200C}", count: 80) + ".pdf"
        let name = try #require(SafeName.sanitize(given))
        #expect(!name.unicodeScalars.dropLast(4).suffix(1).elementsEqual(["\u{200C}"]))
        #expect(SafeName.sanitize(name).map { Array($0.utf8) } == Array(name.utf8))
        #expect(name.unicodeScalars.contains("\u{200C}"))
    }

    @Test("SafeName: the fast path and the full path give the same name", arguments: 0..<40)
    func shortWay(seed: UInt64) {
        var bytes = SeededBytes(seed: seed)
        let pieces = [
            "a", "b", "con", "com1", "nul", "lpt9", "aux", "PRN", ".", ".zip", ".part", ".old", ".FERRY", "-", "_", "+",
            " ", "/", "7", "archive", "z", "~", "é", ":",
        ]
        for _ in 0..<200 {
            let count = Int.random(in: 0..<6, using: &bytes)
            let name = (0..<count).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &bytes)] }.joined()
            #expect(SafeName.sanitize(name) == SafeName.mended(name), "\(name), seed \(seed)")
        }
        for length in 225...260 {
            let name = String(repeating: "a", count: length) + ".zip"
            #expect(SafeName.sanitize(name) == SafeName.mended(name))
        }
    }

    @Test(
        "SafeName: a long name is cut to leave room for a number and the suffixes of part and journal",
        arguments: [
            (String(repeating: "a", count: 4096), ""), (String(repeating: "a", count: 4096) + ".zip", ".zip"),
            (String(repeating: "a", count: 300) + ".tar.gz", ".tar.gz"),
            (String(repeating: "文", count: 200) + ".zip", ".zip"),
            (String(repeating: "👨‍👩‍👧", count: 50).replacing("\u{200D}", with: "") + ".zip", ".zip"),
            ("a" + String(repeating: "\u{301}", count: 4096) + ".zip", ".zip"),
            ("a." + String(repeating: "b", count: 4096), ""),
            (String(repeating: ".", count: 4096) + "x", "x"), (String(repeating: "a ", count: 4096), ""),
            (String(repeating: "a", count: 229) + ".part" + String(repeating: "b", count: 99), ""),
            (String(repeating: "a", count: 400) + ".part", ".part_"),
            (String(repeating: "x.part", count: 100), ".part_"),
            (String(repeating: "é", count: 32_000), ""),
        ])
    func cut(given: String, suffix: String) throws {
        let name = try #require(SafeName.sanitize(given))
        #expect(name.utf8.count <= SafeName.maxBytes)
        #expect(name.hasSuffix(suffix))
        #expect(name.utf8.count > SafeName.maxBytes - 30)
        #expect((SafeName.numbered(name, 999) + ".part.ferry.old").utf8.count <= 255)
        #expect(SafeName.sanitize(name) == name)
    }

    @Test("SafeName: a long name is cut between characters")
    func cutBetweenCharacters() throws {
        let flags = String(repeating: "🇨🇳", count: 100)
        let name = try #require(SafeName.sanitize(flags + ".png"))
        #expect(name.dropLast(4).allSatisfy { $0 == "🇨🇳" })
    }

    @Test(
        "SafeName: a number is inserted before the extension",
        arguments: [
            ("name.ext", 2, "name (2).ext"), ("archive.tar.gz", 2, "archive (2).tar.gz"),
            ("ARCHIVE.TAR.XZ", 1, "ARCHIVE (1).TAR.XZ"),
            ("name", 1, "name (1)"), (".hidden", 1, ".hidden (1)"), ("name.", 1, "name. (1)"),
            ("v1. final copy", 1, "v1. final copy (1)"),
            ("dir.d/name", 1, "dir.d/name (1)"), ("/a.b/c.tar.gz", 3, "/a.b/c (3).tar.gz"),
            (".tar.gz", 1, ".tar (1).gz"),
            ("a (1).zip", 2, "a (1) (2).zip"), ("文件.zip", 999, "文件 (999).zip"), ("", 1, " (1)"),
            ("a.part_", 1, "a (1).part_"),
        ] as [(String, Int, String)])
    func numbered(name: String, number: Int, expected: String) {
        #expect(SafeName.numbered(name, number) == expected)
    }

    @Test("SafeName: a long name with a number still fits the limit of the file system")
    func numberedIsCut() {
        for number in [1, 999, Int.max] {
            let name = SafeName.numbered(String(repeating: "é", count: 125) + ".zip", number)
            #expect((name + ".part.ferry.old").utf8.count <= 255)
            #expect(name.hasSuffix(" (\(number)).zip"))
        }
    }

    @Test(
        "SafeName: the name comes from Content-Disposition, else the URL, else the redirect's target",
        arguments: [
            ("a.zip", "http://h/b.zip", "http://h/c.zip", "a.zip"), (nil, "http://h/b.zip", "http://h/c.zip", "b.zip"),
            (nil, "http://h/", "http://h/c.zip", "c.zip"), (nil, "http://h/x/?file=c", nil, "download"),
            (nil, "http://h", "http://h/", "download"), ("..", "http://h/b.zip", nil, "b.zip"),
            ("", "http://h/b.zip", nil, "b.zip"), ("/", "http://h/%2E%2E", "http://h/c", "c"),
            (nil, "http://h/a%2Fb.zip", nil, "b.zip"), (nil, "http://h/..%2f..%2fetc%2fpasswd", nil, "passwd"),
            (nil, "http://h/a%5C..%5Cb", nil, "b"), (nil, "http://h/%E6%96%87.zip", nil, "文.zip"),
            (nil, "http://h/%D6%D0%CE%C4.zip", nil, "中文.zip"), (nil, "http://h/caf%E9.txt", nil, "café.txt"),
            (nil, "http://h/a%00b", nil, "a_b"), (nil, "http://h/100%25.zip", nil, "100%.zip"),
            (nil, "http://h/.htaccess", nil, "_htaccess"), (nil, "http://h/x.zip.part", nil, "x.zip.part_"),
            (nil, "http://h/a/b?name=/c.zip", nil, "b"),
        ] as [(String?, String, String?, String)])
    func made(suggested: String?, url: String, final: String?, expected: String) throws {
        let name = SafeName.make(suggested, url: try DownloadURL(url), finalURL: try final.map { try DownloadURL($0) })
        #expect(name == expected)
    }

    @Test(
        "SafeName: a hostile Content-Disposition field gives a safe name",
        arguments: [
            ("attachment; filename=\"../../etc/passwd\"", "passwd"), ("attachment; filename=\"/etc/passwd\"", "passwd"),
            ("attachment; filename=\"a\\..\\b\"", "b"), ("attachment; filename=\"..\"", "url"),
            ("attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd", "passwd"),
            ("attachment; filename*=UTF-8''%2F", "url"),
            ("attachment; filename*=UTF-8''..%5C..%5Cevil.exe", "evil.exe"),
            ("attachment; filename=\"%2e%2e%2fx\"", "x"),
            ("attachment; filename=\"\u{FFFD}.zip\"", "url"), ("attachment; filename*=UTF-8''%00%0A", "__"),
        ])
    func fromField(field: String, expected: String) throws {
        let url = try DownloadURL("http://h/url")
        #expect(SafeName.make(ContentDisposition.fileName(field), url: url, finalURL: nil) == expected)
    }

    @Test(
        "SafeName: random text gives a safe name, and sanitizing it again changes nothing",
        arguments: 0..<8 as Range<UInt64>)
    func fuzz(seed: UInt64) throws {
        var fuzz = SeededBytes(seed: seed)
        let pieces = [
            ".", "..", " ", "-", "/", "\\", ".part", ".ferry", ".old", "con", "nul.", ".tar", ".gz", "文", "\u{301}",
            "🇨🇳", "_",
            String(repeating: "a", count: 60), String(repeating: "\u{301}", count: 50), "\u{3000}", "\u{200D}", "\u{0}",
            "می", "\u{200C}", "👩", String(repeating: "👩‍", count: 20),
        ]
        let url = try DownloadURL("http://h/")
        for _ in 0..<4000 {
            let given = fuzz.text(from: pieces, upTo: 16)
            let name = SafeName.make(given, url: url, finalURL: nil)
            let story = Comment(rawValue: "seed \(seed): \(given.debugDescription) gave \(name.debugDescription)")
            #expect(!name.isEmpty && name.utf8.count <= SafeName.maxBytes, story)
            #expect(!name.utf8.contains { $0 == 0x2F || $0 == 0x5C || $0 < 0x20 || $0 == 0x7F }, story)
            #expect(!name.hasPrefix(".") && !name.hasPrefix("-") && !name.hasSuffix(".") && !name.hasSuffix(" "), story)
            #expect(!name.hasSuffix(".part") && !name.hasSuffix(".ferry") && !name.hasSuffix(".old"), story)
            #expect(SafeName.sanitize(name).map { Array($0.utf8) } == Array(name.utf8), story)
            #expect((SafeName.numbered(name, 999) + ".part.ferry.old").utf8.count <= 255, story)
        }
    }
}
