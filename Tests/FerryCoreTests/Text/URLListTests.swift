import FerryCore
import HTTPTypes
import Testing

@Suite("Lists of URLs and headers")
struct URLListTests {
    private func texts(_ list: URLList) -> [[String]] { list.entries.map { $0.urls.map(\.text) } }

    @Test("URLList: each line is a URL; comments, empty lines, CRLF and a BOM are tolerated") func plain() {
        let list = URLList("\u{FEFF}http://h/a\r\n# http://h/no\r\n\r\n  \r\nhttps://h/b#frag  \nhttp://h/c")
        #expect(texts(list) == [["http://h/a"], ["https://h/b"], ["http://h/c"]])
        #expect(list.entries.map(\.line) == [1, 5, 6])
        #expect(list.problems.isEmpty)
    }

    @Test("URLList: tabs separate mirrors, and indented lines are options") func aria2() throws {
        let list = URLList(
            """
            http://a/f\thttp://b/f\t\thttp://a/f
              out=my file.iso
            \tdir=/tmp/x=y
              # a comment between

              header=Authorization: Bearer a=b
              header=X-Two: 2
              checksum=md5=d41d8cd98f00b204e9800998ecf8427e
            http://c/g
              OUT = g
            """)
        #expect(texts(list) == [["http://a/f", "http://b/f"], ["http://c/g"]])
        let first = try #require(list.entries.first)
        #expect(first.out == "my file.iso")
        #expect(first.dir == "/tmp/x=y")
        #expect(first.headers[.authorization] == "Bearer a=b")
        #expect(first.headers.count == 2)
        #expect(first.checksum?.algorithm == .md5)
        #expect(list.entries.last?.out == "g")
        #expect(list.problems.isEmpty)
    }

    @Test("URLList: a malformed line is reported with its number, and the rest is used") func problems() {
        let list = URLList(
            """
              out=early
            http://h/1
            ftp://h/2
              out=goes-with-it
            http://h/3
              split=5
              out=three
            http://h/4
              checksum=md5:12
              out=lost
            http://h/5\tgopher://h/5
            http://h/6
              header=secret-without-colon
            http://h/7
              out=
            http://h/8
              nonsense
              https://h/9
            """)
        #expect(
            texts(list)
                == [["http://h/1"], ["http://h/3"], ["http://h/5"], ["http://h/8"], ["https://h/9"]])
        #expect(list.problems.map(\.line) == [1, 3, 6, 9, 11, 13, 15, 17])
        #expect(list.entries[1].out == "three")
        #expect(list.problems[2].description == "line 6: unknown option \"split\": use out, dir, checksum or header")
        #expect(!list.problems.contains { $0.message.contains("secret") })
    }

    @Test("URLList: an empty text gives an empty list", arguments: ["", "\n", "\u{FEFF}", "\r\n\r\n", "#", "   "])
    func empty(_ text: String) {
        #expect(URLList(text).entries.isEmpty)
        #expect(URLList(text).problems.isEmpty)
    }

    @Test("HeaderLine: a header is a name, a colon and a value") func header() throws {
        let field = try HeaderLine.parse(" X-Token :\t a: b ")
        #expect(field.name.rawName == "X-Token")
        #expect(field.value == "a: b")
        #expect(try HeaderLine.parse("X:").value == "")
        #expect(try HeaderLine.parse("X: grün").value == "grün")
        #expect(HeaderLine.isReserved(.range) && HeaderLine.isReserved(.ifRange) && !HeaderLine.isReserved(.cookie))
    }

    @Test(
        "HeaderLine: a malformed header is refused without showing its value",
        arguments: [
            "", "hunter2", ": hunter2", "A B: hunter2", "A\u{0}: hunter2", "A: hunter2\r\nB: x", "A: hunter2\u{0}",
            ":path: hunter2", "Ä: hunter2", "A: x\nhunter2",
        ])
    func badHeader(_ text: String) {
        let error = #expect(throws: HeaderLine.ParseError.self) { try HeaderLine.parse(text) }
        #expect(error?.message.contains("hunter2") == false)
    }

    @Test("HeaderLine: a header file has one header per line, and an error names the line") func headerFile() throws {
        let fields = try HeaderLine.parseFile("\u{FEFF}A: 1\r\n\r\n# no\r\nB: 2\r\nA: 3\n")
        #expect(fields.map { "\($0.name.rawName)=\($0.value)" } == ["A=1", "B=2", "A=3"])
        let error = #expect(throws: TextError.self) { try HeaderLine.parseFile("A: 1\nbad\n") }
        #expect(error?.line == 2)
    }

    @Test(
        "URLList: random text never traps, and problems have no control characters",
        arguments: [41, 42, 43] as [UInt64])
    func anyText(seed: UInt64) {
        var random = SeededBytes(seed: seed)
        let pieces = [
            "http://h/", "\t", "\n", "\r\n", "  out=", " dir=", " checksum=md5:", " header=", "#", "A: b", ":", "=",
            "%",
        ]
        for _ in 0..<2000 {
            let text = random.text(of: pieces)
            let list = URLList(text)
            for entry in list.entries { #expect(!entry.urls.isEmpty && entry.line >= 1) }
            for problem in list.problems { #expect(!problem.message.utf8.contains { $0 < 0x20 }) }
            _ = try? HeaderLine.parse(text)
            _ = try? HeaderLine.parseFile(text)
        }
    }
}
