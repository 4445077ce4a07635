import FerryCore
import Testing

@Suite("Metalink") struct MetalinkTests {
    private static let digest = String(repeating: "ab", count: 32)

    private func document(_ files: String) -> [UInt8] {
        Array(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <metalink xmlns="urn:ietf:params:xml:ns:metalink">
            \(files)
            </metalink>
            """.utf8)
    }

    private func items(_ files: String) throws -> [URLList.Item] { try Metalink(parsing: document(files)).items }

    private func entry(_ file: String) throws -> URLList.Entry {
        guard case .entry(let entry)? = try items(file).first else {
            Issue.record("\(try items(file))")
            throw CancellationError()
        }
        return entry
    }

    @Test("Metalink: a file has its URLs by priority, its strongest digest and its size")
    func whole() throws {
        let entry = try entry(
            """
            <file name="a b.iso" xmlns:x="urn:other"><x:url>http://other/</x:url>
              <size> 14471447 </size>
              <hash type="md5">\(String(repeating: "0", count: 32))</hash>
              <hash type="sha-256">
                \(Self.digest)
              </hash>
              <hash type="sha-1">\(String(repeating: "1", count: 40))</hash><hash type="whirlpool">x</hash>
              <pieces length="262144" type="sha-1"><hash>\(String(repeating: "2", count: 40))</hash></pieces>
              <url>http://last/f</url><url priority="0">http://zero/f</url>
              <url priority="20" location="de">https://second/f?a=1&amp;b=2</url>
              <url priority="1">http://first/f</url><url priority="2">ftp://first/f</url>
              <url priority="999">http://first/f</url><url>not a URL</url>
              <metaurl mediatype="torrent">http://h/f.torrent</metaurl>
            </file>
            """)
        #expect(
            entry.urls.map(\.text) == ["http://first/f", "https://second/f?a=1&b=2", "http://last/f", "http://zero/f"])
        #expect(entry.checksum?.description == "sha-256=" + Self.digest)
        #expect(entry.size == 14_471_447 && entry.out == "a b.iso" && entry.line == 3)
    }

    @Test("Metalink: of the pieces' digests the strongest are used, if they are those of the file")
    func pieces() throws {
        func list(_ type: String, _ digit: String, _ length: Int, count: Int) -> String {
            let digest = String(repeating: digit, count: length)
            return #"<pieces length="10" type="\#(type)">"#
                + String(repeating: "<hash>\n \(digest) </hash>", count: count) + "</pieces>"
        }
        let url = "<url>http://h/f</url>"
        let lists =
            list("md5", "1", 32, count: 3) + list("sha-256", "2", 64, count: 3) + list("tiger", "3", 48, count: 3)
        let pieces = try #require(try entry("<file name=\"f\"><size>21</size>\(lists)\(url)</file>").pieces)
        #expect(pieces.algorithm == .sha256 && pieces.pieceBytes == 10 && pieces.count == 3)
        #expect(pieces.digests == Array(repeating: 0x22, count: 96))
        #expect(try entry("<file name=\"f\">\(list("md5", "1", 32, count: 2))\(url)</file>").pieces?.count == 2)
        // Without another digest they are missed, with one they are not.
        let wrong = [
            "<size>31</size>" + lists, list("md5", "1", 31, count: 3), list("sha-1", "1", 40, count: 0),
            list("md5", "1", 32, count: 3).replacing("\"10\"", with: "\"0\""),
        ]
        for text in wrong {
            guard case .problem(let problem)? = try items("<file name=\"f\">\(text)\(url)</file>").first else {
                Issue.record("taken: \(text)")
                continue
            }
            #expect(problem.message == "the digests of the pieces do not cover the file")
            let hash = "<hash type=\"sha-256\">\(Self.digest)</hash>"
            let entry = try entry("<file name=\"f\">\(hash)\(text)\(url)</file>")
            #expect(entry.pieces == nil && entry.checksum != nil)
        }
        let many = list("md5", "1", 32, count: PieceDigests.mostPieces + 1)
        #expect(try entry("<file name=\"f\">\(many)\(url)</file>").pieces == nil)
    }

    @Test(
        "Metalink: the name of a file stays below the directory, and its components are made safe",
        arguments: [
            ("f.iso", "f.iso"), ("a/b/f.iso", "a/b/f.iso"), (".ssh/authorized_keys", "_ssh/authorized_keys"),
            ("-rf", "_rf"), ("a\\..\\f", "f"), ("f.part", "f.part_"), ("nul", "nul_"),
        ])
    func names(text: String, name: String) throws {
        #expect(try entry("<file name=\"\(text)\"><url>http://h/f</url></file>").out == name)
    }

    @Test(
        "Metalink: a file that cannot be used is a problem with its line, and the others are used",
        arguments: [
            ("<file><url>http://h/f</url></file>", "name of the file"),
            ("<file name='../f'><url>http://h/f</url></file>", "name of the file"),
            ("<file name='/f'><url>http://h/f</url></file>", "name of the file"),
            ("<file name='a//f'><url>http://h/f</url></file>", "name of the file"),
            ("<file name='f'><url>ftp://h/f</url></file>", "no URL of http"), ("<file name='f'/>", "no URL of http"),
            ("<file name='f'><size>-1</size><url>http://h/f</url></file>", "size of the file"),
            ("<file name='f'><size>9999999999999999999</size><url>http://h/f</url></file>", "size of the file"),
            ("<file name='f'><hash type='sha-256'>ab</hash><url>http://h/f</url></file>", "digest of the file"),
            (
                "<file name='f'><hash type='md5'>\(String(repeating: "0", count: 32))</hash>"
                    + "<hash type='md5'>\(String(repeating: "1", count: 32))</hash><url>http://h/f</url></file>",
                "two digests"
            ),
        ])
    func unusable(file: String, message: String) throws {
        let items = try items(file + "\n<file name='g'><url>http://h/g</url></file>")
        guard case .problem(let problem) = items[0], case .entry(let other) = items[1] else {
            Issue.record("\(items)")
            return
        }
        #expect(problem.message.contains(message) && problem.line == 3, "\(problem)")
        #expect(other.out == "g")
    }

    @Test(
        "Metalink: another document is refused",
        arguments: [
            "<metalink><file name='f'><url>http://h/f</url></file></metalink>",
            "<metalink version='3.0' xmlns='http://www.metalinker.org/'><files/></metalink>", "<html></html>",
            "<metalink xmlns='urn:ietf:params:xml:ns:metalink'/>", "http://h/f",
        ])
    func others(text: String) { #expect(throws: TextError.self) { try Metalink(parsing: Array(text.utf8)) } }

    @Test(
        "Metalink: a web page is named as such",
        arguments: ["<html lang='en'>", "\n<!DOCTYPE html><br>", "<!doctype HTML>"])
    func page(text: String) {
        let error = #expect(throws: TextError.self) { try Metalink(parsing: Array(text.utf8)) }
        #expect(error?.message == "this is a web page, not a list")
    }

    @Test("Metalink: at most 100 URLs of a file are used")
    func many() throws {
        let urls = (0..<200).map { "<url>http://h/\($0)</url>" }.joined()
        #expect(try entry("<file name='f'>\(urls)</file>").urls.count == DownloadRequest.mostSources)
    }

    @Test("Metalink: a document is told from a list of URLs by its first character")
    func sniffed() {
        for text in ["<metalink/>", "\u{FEFF} \n<?xml", " <"] { #expect(Metalink.isDocument(text.utf8)) }
        for text in ["", "http://h/<", "# <", "\u{FEFF}"] { #expect(!Metalink.isDocument(text.utf8)) }
    }

    @Test("DownloadRequest: a Metalink document gives one request for each file")
    func requests() throws {
        let requests = try DownloadRequest.requests(
            metalink: document(
                """
                <file name="a/f"><size>5</size><hash type="sha-256">\(Self.digest)</hash>
                <url>http://h/f</url><url>http://i/f</url></file><file name="g"><url>http://h/g</url></file>
                """), directory: "/d")
        #expect(requests.map(\.destination) == [.file("/d/a/f"), .file("/d/g")])
        #expect(requests[0].sources.count == 2 && requests[0].expectedBytes == 5)
        #expect(requests[0].checksum?.algorithm == .sha256 && requests[1].checksum == nil)
        for text in ["<file name='f'/>", "<!DOCTYPE f>"] {
            let error = #expect(throws: DownloadError.self) {
                try DownloadRequest.requests(metalink: document(text), directory: "/d")
            }
            #expect(error?.code == .invalidRequest)
        }
    }
}
