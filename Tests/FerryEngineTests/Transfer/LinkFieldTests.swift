import FerryCore
import FerryTesting
import HTTPTypes
import Testing

@testable import FerryEngine

@Suite("Link fields") struct LinkFieldTests {
    private func mirrors(
        _ lines: [String], of source: String = "https://h/dir/f", from: String? = nil, downgrade: Bool = false
    ) throws -> [String] {
        var head = ResponseHead(status: 200)
        let name = try #require(HTTPField.Name("Link"))
        for line in lines { head.headers.append(HTTPField(name: name, value: line)) }
        var links = LinkField()
        links.add(head, from: try DownloadURL(from ?? source))
        return LinkField.usable(
            links.mirrors, besides: [try DownloadURL(source)], allowsDowngrade: downgrade
        ).map(\.text)
    }

    @Test("LinkField: mirrors come by priority, from all lines, resolved against the response")
    func priorities() throws {
        #expect(
            try mirrors([
                "<https://b/f>; rel=duplicate; pri=2; geo=gb, <https://a/f>;rel=\"duplicate\";pri=1",
                "</dir/f?mirror>; REL=\"other Duplicate\", <https://c/f> ; pri = \"x\" ; rel = duplicate",
                "<https://d/f>; rel=describedby; rel=duplicate, <f.meta4>; rel=describedby; type=\"a,b;c\"",
            ]) == ["https://a/f", "https://b/f", "https://h/dir/f?mirror", "https://c/f"])
    }

    @Test(
        "LinkField: what is malformed is left out",
        arguments: [
            "", "https://a/f; rel=duplicate", "<https://a/f", "<https://a/f>", "<>", "<ftp://a/f>; rel=duplicate",
            "<https://a b/f>; rel=duplicate", "<https://a/f>; rel", "<https://a/f>; rel=\"duplicat", ";;,,<",
        ])
    func malformed(line: String) throws { #expect(try mirrors([line]).isEmpty) }

    @Test("LinkField: no mirror is unencrypted beside an encrypted source, on this network, or known already")
    func unsafe() throws {
        let line = "<http://a/f>; rel=duplicate, <https://127.0.0.1/f>; rel=duplicate, <https://h/dir/f>; rel=duplicate"
        #expect(try mirrors([line]).isEmpty)
        #expect(try mirrors([line], downgrade: true) == ["http://a/f"])
        #expect(
            try mirrors([line], of: "http://127.0.0.1/f") == ["http://a/f", "https://127.0.0.1/f", "https://h/dir/f"])
        #expect(try mirrors(["<//me:pw@a/f>; rel=duplicate"]) == ["https://a/f"])
    }

    @Test("LinkField: no mirror is an object of a store")
    func objects() throws {
        let page = try DownloadURL("https://example.com/a")
        let named = [try DownloadURL("s3://bucket/key"), try DownloadURL("https://mirror.example/a")]
        #expect(LinkField.usable(named, besides: [page], allowsDowngrade: true) == [named[1]])
    }

    @Test("LinkField: documents are those that describe the file as Metalink 4")
    func descriptions() throws {
        var head = ResponseHead(status: 200)
        let name = try #require(HTTPField.Name("Link"))
        for line in [
            "<f.meta4>; rel=describedby; type=\"application/metalink4+xml\"",
            "<f.torrent>; rel=describedby; type=\"application/x-bittorrent\", <f.asc>; rel=describedby",
            "</all>; type=\"Application/Metalink4+XML\"; type=x; rel=\"next describedby\", <//>; rel=describedby",
        ] { head.headers.append(HTTPField(name: name, value: line)) }
        var links = LinkField()
        links.add(head, from: try DownloadURL("https://h/dir/f"))
        #expect(links.descriptions.map(\.text) == ["https://h/dir/f.meta4", "https://h/all"] && links.mirrors.isEmpty)
    }

    @Test("LinkField: at most ten mirrors, of at most 16 KiB")
    func bounds() throws {
        let many = (0..<200).map { "<https://a/\($0)>; rel=duplicate" }
        #expect(try mirrors(many).count == LinkField.mostMirrors)
        #expect(try mirrors(many + many + many).isEmpty)
    }

    @Test("LinkField: any bytes give links or none", arguments: [1, 2] as [UInt64])
    func anyBytes(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let pieces = ["<", ">", ";", ",", "rel=", "duplicate", "\"", "\\", "pri=", "1", "https://a/", " ", "/"]
        for _ in 0..<5000 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).flatMap { _ in
                let piece = pieces.randomElement(using: &random).map { Array($0.utf8) } ?? []
                return Bool.random(using: &random) ? piece : [UInt8.random(in: 0...255, using: &random)]
            }
            let text = String(decoding: bytes, as: UTF8.self)
            if HTTPField.isValidValue(text) { _ = try mirrors([text]) }
        }
    }
}
