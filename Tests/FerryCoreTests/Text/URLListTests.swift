import FerryCore
import Foundation
import HTTPTypes
import Testing

@Suite("Lists of URLs and headers")
struct URLListTests {
    /// The entries and problems of a list that arrives in pieces.
    private struct WholeList: Equatable {
        var entries: [URLList.Entry] = []
        var problems: [URLList.Problem] = []

        init(_ text: String, pieceBytes: Int = .max) { self.init(Array(text.utf8), pieceBytes: pieceBytes) }

        init(_ bytes: [UInt8], pieceBytes: Int = .max) {
            var list = URLList { try? JSONDecoder().decode(JSONValue.self, from: Data($0)) }
            var rest = bytes[...]
            while !rest.isEmpty {
                list.append(rest.prefix(pieceBytes))
                rest = rest.dropFirst(pieceBytes)
                drain(&list)
            }
            list.finish()
            drain(&list)
        }

        private mutating func drain(_ list: inout URLList) {
            while let item = list.next() {
                switch item {
                case .entry(let entry): entries.append(entry)
                case .problem(let problem): problems.append(problem)
                }
            }
        }
    }

    private func texts(_ list: WholeList) -> [[String]] { list.entries.map { $0.urls.map(\.text) } }

    @Test("URLList: each line is a URL; comments, empty lines, CRLF and a BOM are tolerated") func plain() {
        let list = WholeList("\u{FEFF}http://h/a\r\n# http://h/no\r\n\r\n  \r\nhttps://h/b#frag  \nhttp://h/c")
        #expect(texts(list) == [["http://h/a"], ["https://h/b"], ["http://h/c"]])
        #expect(list.entries.map(\.line) == [1, 5, 6])
        #expect(list.problems.isEmpty)
    }

    /// Such a line was one URL with `%20` in it.
    @Test("URLList: blanks before a scheme separate mirrors too, other blanks belong to the URL") func blanks() {
        let list = WholeList("http://a/x  HTTPS://b/x http://c/my file.iso\n http://a/y http://b/y \n")
        #expect(
            texts(list) == [
                ["http://a/x", "https://b/x", "http://c/my%20file.iso"], ["http://a/y", "http://b/y"],
            ])
        #expect(list.problems.isEmpty)
    }

    @Test("URLList: tabs separate mirrors, and indented lines are options") func aria2() throws {
        let list = WholeList(
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

    @Test(
        "URLList: texts between tabs that are no URLs are columns; one that is meant as a URL is a mirror, or reported")
    func columns() {
        let list = WholeList(
            "http://h/a\tA cat\t\thttp://m/a\tsee http://x\t\nhttp://h/b\t\nhttp://h/c\tftp://m/c\tc\nhttp://h/d e\tf")
        #expect(texts(list) == [["http://h/a", "http://m/a"], ["http://h/b"], ["http://h/c"], ["http://h/d%20e"]])
        #expect(list.entries.map(\.columns) == [["A cat", "", "see http://x", ""], nil, ["c"], ["f"]])
        #expect(list.problems.map(\.line) == [3])
    }

    @Test(
        "URLList: a line of JSON has URLs, options, and columns with the types that they had; more options may follow")
    func objects() throws {
        let list = WholeList(
            """
            {"url":"http://h/a","urls":["http://m/a"],"out":"o","dir":"d","checksum":"md5=d41d8cd98f00b204e9800998ecf8427e"}
              header=X-Two: 2
            {"urls":["http://h/b"],"out":null,"n":18014398509481985,"f":-0.25,"t":true,"l":[1,{"z":null}]}
            """)
        #expect(texts(list) == [["http://h/a", "http://m/a"], ["http://h/b"]] && list.problems == [])
        let first = try #require(list.entries.first)
        #expect(first.out == "o" && first.dir == "d" && first.checksum?.algorithm == .md5 && first.columns == nil)
        #expect(first.headers.count == 1)
        #expect(
            list.entries[1].columns == [
                "n": 18_014_398_509_481_985, "f": .number(-0.25), "t": true, "l": [1, ["z": .null]],
            ])
        #expect(list.entries[1].out == nil)
    }

    @Test(
        "URLList: a line of JSON that cannot be used is reported, and its options are left out",
        arguments: [
            "{\"url\":\"http://h/a\"", "{}", "{\"url\":7}", "{\"urls\":\"http://h/a\"}",
            "{\"url\":\"http://h/a\",\"out\":1}",
            "{\"url\":\"http://h/a\",\"checksum\":\"md5=0\"}", "{\"url\":\"http://h/a\",\"n\":36893488147419103232}",
            "{\"url\":\"http://h/a\",\"n\":[[[[[[[[1]]]]]]]]}",
            "{\"url\":\"http://h/a\",\"text\":\"" + String(repeating: "x", count: 20_000) + "\"}",
            "http://h/a\t" + String(repeating: "x", count: 20_000),
        ])
    func unusableColumns(line: String) {
        let list = WholeList(line + "\n  out=x\nhttp://h/b\n")
        #expect(texts(list) == [["http://h/b"]] && list.problems.map(\.line) == [1], "\(list.problems)")
    }

    @Test("URLList: a line of JSON that is longer than its bound is reported without being parsed")
    func longObject() {
        var list = URLList { _ in
            Issue.record("it was parsed")
            return nil
        }
        let text = String(repeating: "x", count: URLList.mostObjectBytes)
        list.append(Array("{\"url\":\"http://h/a\",\"text\":\"\(text)\"}\n  out=x\nhttp://h/b\n".utf8))
        list.finish()
        var items: [URLList.Item] = []
        while let item = list.next() { items.append(item) }
        guard items.count == 2, case .problem(let problem) = items[0], case .entry(let entry) = items[1] else {
            Issue.record("\(items)")
            return
        }
        #expect(problem.line == 1 && problem.reason.text(in: .english) == "the object has more than 128 KiB")
        #expect(entry.urls.map(\.text) == ["http://h/b"] && entry.out == nil)
    }

    @Test("URLList: a malformed line is reported with its number, and the rest is used") func problems() {
        let list = WholeList(
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
        #expect(WholeList(text).entries.isEmpty)
        #expect(WholeList(text).problems.isEmpty)
    }

    @Test("URLList: a line over 1 MiB is a problem, its options are dropped, and the following lines are read")
    func longLine() {
        let long = "http://h/" + String(repeating: "a", count: URLList.mostLineBytes)
        for piece in [1 << 16, Int.max] {
            let list = WholeList("http://h/1\n\(long)\n  out=x\nhttp://h/2\n", pieceBytes: piece)
            #expect(texts(list) == [["http://h/1"], ["http://h/2"]])
            #expect(list.problems.map(\.line) == [2])
            #expect(list.entries.map(\.line) == [1, 4])
        }
        #expect(WholeList(long, pieceBytes: 1 << 16).problems.map(\.line) == [1])
    }

    @Test("URLList: an entry has at most 100 URLs and at most 100 header fields")
    func bounds() {
        let urls = (0..<200).map { "http://h/\($0)" }.joined(separator: "\t")
        let list = WholeList(urls)
        #expect(list.entries.map(\.urls.count) == [100] && list.problems.count == 1)
        let fields = String(repeating: "\n header=A: 1", count: URLList.mostHeaders)
        #expect(WholeList("http://h/1" + fields).entries.map(\.headers.count) == [URLList.mostHeaders])
        #expect(WholeList("http://h/1" + fields + "\n header=A: 1").entries.isEmpty)
    }

    @Test("URLList: the lines that begin an entry are counted without parsing them")
    func count() {
        var list = URLList()
        list.append("\u{FEFF}http://h/1\r\n out=a\n#\n\n  https://h/2\nnonsense\nhttp://h/3".utf8)
        list.finish()
        let count = list.countEntries()
        #expect(count == 4)
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
        let error = #expect(throws: TextError.self) { try HeaderLine.parse(text) }
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
            let list = WholeList(text)
            #expect(list == WholeList(text, pieceBytes: 3))
            for entry in list.entries { #expect(!entry.urls.isEmpty && entry.line >= 1) }
            for problem in list.problems { #expect(!problem.message.utf8.contains { $0 < 0x20 }) }
            _ = try? HeaderLine.parse(text)
            _ = try? HeaderLine.parseFile(text)
        }
    }

    @Test(
        "URLList: a list in UTF-16 is one problem that says so, with a byte order mark and without",
        arguments: [[0xFF, 0xFE], [0xFE, 0xFF], []] as [[UInt8]], [1, Int.max])
    func utf16(mark: [UInt8], pieceBytes: Int) {
        let text = "http://h/a\r\nhttp://h/b\r\n\r\n dir=x\r\n"
        let bytes = mark + text.utf16.flatMap { mark == [0xFE, 0xFF] ? [0, UInt8($0)] : [UInt8($0), 0] }
        let list = WholeList(bytes, pieceBytes: pieceBytes)
        #expect(list.entries.isEmpty)
        #expect(list.problems.map(\.message) == ["the list is in UTF-16; save it as UTF-8"])
        var counted = URLList()
        counted.append(bytes)
        counted.finish()
        #expect(counted.countEntries() == 0)
    }

    /// Each such URL was requested with U+FFFD in place of its bytes.
    @Test("URLList: a URL or an option in Latin-1 is reported with its line; comments and columns may have any bytes")
    func latin1() {
        let lines = [
            "# ä", "http://h/ä", "http://h/b\thttp://m/ä", "http://h/c", "  out=ä", "http://h/d", "  header=A: ä",
            "http://h/e\tä",
        ]
        let bytes = lines.joined(separator: "\n").unicodeScalars.map { UInt8($0.value) }
        for pieceBytes in [1, Int.max] {
            let list = WholeList(bytes, pieceBytes: pieceBytes)
            #expect(texts(list) == [["http://h/b"], ["http://h/e"]])
            #expect(list.problems.map(\.line) == [2, 3, 5, 7])
            #expect(list.problems.allSatisfy { $0.message.hasSuffix("save the list as UTF-8") })
        }
        #expect(texts(WholeList(Array("http://h/ä".utf8))) == [["http://h/%C3%A4"]])
    }
}
