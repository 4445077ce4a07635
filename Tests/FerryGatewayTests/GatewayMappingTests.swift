import FerryAPI
import FerryCore
import Foundation
import HTTPTypes
import Testing

@testable import FerryGateway

@Suite("Mappings of the gateway")
struct GatewayMappingTests {
    private static let page = "http://index.example/simple/six/"

    private static func index(_ url: String = page) throws -> IndexPage {
        IndexPage(try DownloadURL(url)) { target, checksum in
            target.path.utf8.last == UInt8(ascii: "/") ? nil : "/f/\(checksum?.hex.prefix(4) ?? "-")/\(target.text)"
        }
    }

    private static func rewritten(_ html: String) throws -> String {
        String(decoding: try index().rewriting(Array(html.utf8)), as: UTF8.self)
    }

    @Test("Index page: links of all forms are replaced, digests are read, everything else stays byte for byte")
    func html() throws {
        let sha = String(repeating: "ab", count: 32)
        let html = """
            <!DOCTYPE html><html><!-- <a href="c.whl">c</a> --><body>\u{0301}
            <A data-requires-python="&gt;=3.8"\tHREF = '../../files/six-1.whl?a=1&amp;b=2#sha256=\(sha)' >six</A>
            <a href=six-2.tar.gz>2</a><a>none</a><a href="https://other.example/six-3.zip#md5=\(sha.prefix(32))" x></a>
            <a href="../other/">page</a><a href="javascript:alert(1)">bad</a><area href="x"><abbr title="a>b">
            """
        let new = try Self.rewritten(html)
        #expect(
            new == """
                <!DOCTYPE html><html><!-- <a href="c.whl">c</a> --><body>\u{0301}
                <A data-requires-python="&gt;=3.8"\tHREF = "/f/abab/http://index.example/files/six-1.whl?a=1&amp;b=2#sha256=\(sha)" >six</A>
                <a href="/f/-/http://index.example/simple/six/six-2.tar.gz">2</a><a>none</a><a href="/f/abab/https://other.example/six-3.zip#md5=\(sha.prefix(32))" x></a>
                <a href="http://index.example/simple/other/">page</a><a href="#">bad</a><area href="x"><abbr title="a>b">
                """)
    }

    @Test("Index page: a base changes what links mean, and is removed")
    func base() throws {
        #expect(
            try Self.rewritten(#"<base href="http://files.example/d/"><a href="x.whl">x</a>"#)
                == #"<a href="/f/-/http://files.example/d/x.whl">x</a>"#)
    }

    @Test("Index page: text that breaks off anywhere, and quotes in values, never leave the attribute")
    func hostile() throws {
        let html = #"<a href="x&quot; onclick=&quot;y.whl" class='<a href=z>'>x</a><a href=y.whl/><a = href='u"v.whl'>"#
        let whole = try Self.rewritten(html)
        #expect(!whole.contains("onclick=\"") && !whole.contains(#"u"v"#))
        // A quote that a combining mark follows is another `Character`.
        let marked = try Self.rewritten("<a href='x.whl#\"\u{301} onclick=y'>x</a>")
        let expected = "<a href=\"/f/-/http://index.example/simple/six/x.whl#&quot;\u{301} onclick=y\">x</a>"
        #expect(marked.hasSameBytes(as: expected))
        for end in 0...html.utf8.count {
            let part = Array(html.utf8.prefix(end))
            _ = try Self.index().rewriting(part)
        }
        #expect(try Self.rewritten(String(repeating: "<", count: 9999)) == String(repeating: "<", count: 9999))
        #expect(try Self.rewritten("<a href=") == "<a href=")
    }

    @Test("Index page in JSON: the URL of each file is replaced, a file without one is left out, the rest stays")
    func json() throws {
        let sha = String(repeating: "cd", count: 32)
        let page: JSONValue = [
            "meta": ["api-version": "1.1"], "name": "six", "extra": [1, true, .number(1.5)],
            "files": [
                ["filename": "a.whl", "url": "../a.whl", "hashes": ["md5": "x", "sha256": .text(sha)], "size": 9],
                ["filename": "b.whl", "url": "file:///etc/passwd"], ["filename": "c.whl"], "no file",
            ],
        ]
        let new = try Self.index().rewriting(page)
        #expect(new["files"]?.items?.count == 1)
        #expect(new["files"]?.items?[0]["url"] == "/f/cdcd/http://index.example/simple/a.whl")
        #expect(new["files"]?.items?[0]["size"] == 9 && new["extra"] == page["extra"])
        #expect(try Self.index().rewriting(["projects": [["name": "six"]]]) == ["projects": [["name": "six"]]])
    }

    @Test("Links: only the key that wrote a link reads it; its metadata is beside the file")
    func links() throws {
        let key = GatewayLink.Key("one")
        let url = try DownloadURL("https://files.example/a/six-1.whl?token=x%2Fy")
        let link = GatewayLink(url, try Checksum(parsing: "sha256:" + String(repeating: "ab", count: 32)))
        let path = link.path(key)
        #expect(path.hasSuffix("/six-1.whl") && GatewayLink(Substring(path), key) == link)
        let secret = try GatewayLink(DownloadURL("https://user:secret@files.example/six-1.whl"), nil)
        #expect(GatewayLink(Substring(secret.path(key)), key) == secret && secret.url.credentials == nil)
        let local = try GatewayLink(DownloadURL("https://files.example/torch-2+cu1.whl"), nil)
        #expect(GatewayLink(Substring(local.path(key).replacing("+", with: "%2B")), key) == local)
        let plain = UInt8(ascii: "a")...UInt8(ascii: "z")
        #expect(path.utf8.allSatisfy { plain ~= $0 | 0x20 || 0x30...0x39 ~= $0 || "/-._".utf8.contains($0) })
        #expect(GatewayLink(Substring(path), GatewayLink.Key("two")) == nil)
        #expect(
            GatewayLink(Substring(path + ".metadata"), key)?.url.text
                == "https://files.example/a/six-1.whl.metadata?token=x%2Fy")
        for index in path.indices where path[index] != "/" {
            var other = path
            other.replaceSubrange(index...index, with: path[index] == "x" ? "y" : "x")
            #expect(GatewayLink(Substring(other), key) == nil, "\(other)")
        }
        for other in ["", "/", "///", path + "/", "x/" + path, String(path.dropFirst())] {
            #expect(GatewayLink(Substring(other), key) == nil)
        }
    }

    @Test("Upstreams: one of each kind, any number of archives, without user info and query")
    func upstreams() throws {
        #expect(
            try GatewayUpstream(parsing: "pypi=https://index.example/simple").base.text
                == "https://index.example/simple/")
        for text in [
            "", "pypi", "npm=https://x.example/", "pypi=", "pypi=ftp://x.example/", "pypi=https://u:p@x.example/",
            "oci=https://x.example/?a=b", "apt=https://x.example/", "https://x.example/",
        ] {
            #expect(throws: TextError.self, "\(text)") { try GatewayUpstream(parsing: text) }
        }
        #expect(throws: TextError.self) { try GatewayUpstream.all(["hf=http://a.example", "hf=http://b.example"]) }
        #expect(try GatewayUpstream.all(["apt=http://a.example", "apt=http://b.example"]).count == 2)
    }

    @Test("Upstreams: no path leads out of their own")
    func below() throws {
        let upstream = try GatewayUpstream(parsing: "pypi=https://index.example/a/simple/")
        #expect(upstream.url("six/?x=../..")?.text == "https://index.example/a/simple/six/?x=../..")
        #expect(upstream.url("")?.text == "https://index.example/a/simple/")
        #expect(upstream.url("a%2Fb/")?.text == "https://index.example/a/simple/a%2Fb/")
        for rest in [
            "../", "six/../../x", "/evil.example/", "//evil.example/", "..", "%2e%2e/x", "%252e%252e/x", ".%2e/x",
            "a/./b",
            "a\\..\\b", "a b", "a%00b", "a\r\nX: y", "a%0d%0ab", "x#y", "six/%2E./", "a%2F..%2Fb",
        ] {
            #expect(upstream.url(Substring(rest)) == nil, "\(rest)")
        }
        let archive = try GatewayUpstream(parsing: "apt=http://a.example:80/debian")
        #expect(archive.url(archived: "a.example/debian/pool/x.deb")?.text == "http://a.example/debian/pool/x.deb")
        for text in [
            "a.example/other", "a.example/debian/../x", "a.example/debianx/", "b.example/debian/x",
            "a@a.example/debian/", "",
        ] {
            #expect(archive.url(archived: Substring(text)) == nil, "\(text)")
        }
        #expect(upstream.rest(of: try DownloadURL("https://index.example/a/simple/x/?q")) == "x/?q")
        #expect(upstream.rest(of: try DownloadURL("http://index.example/a/simple/x/")) == nil)
        #expect(upstream.rest(of: try DownloadURL("https://index.example/a/simplex/")) == nil)
    }

    @Test("Routes: the paths of each kind; the prefix of a mirror is dropped")
    func routes() {
        #expect(GatewayRoute("/gw/pypi/simple/six/") == .index("six/"))
        #expect(GatewayRoute("/gw/pypi/file/a/b/c/d") == .link("a/b/c/d"))
        #expect(GatewayRoute("/gw/hf/api/models/a") == .hub("api/models/a"))
        #expect(GatewayRoute("/gw/apt/a.example/x") == .archive("a.example/x"))
        #expect(GatewayRoute("/v2/") == .registry("v2/"))
        #expect(GatewayRoute("/v2/gw/oci/a/b/blobs/x") == GatewayRoute("/v2/a/b/blobs/x"))
        for target in ["/", "/gw/", "/gw/pypi/", "/gw/npm/x", "/v1/", "/api/v1", "*", "http://x.example/v2/", "/V2/"] {
            #expect(GatewayRoute(Substring(target)) == nil, "\(target)")
        }
    }

    @Test("Fields: only known ones pass, without control characters; a next page is a path of the gateway")
    func fields() throws {
        var asked: HTTPFields = [.accept: "a", .authorization: "b", .cookie: "c", .ifNoneMatch: "d", .userAgent: "e"]
        for name in ["X-Forwarded-For", "Host", "Proxy-Authorization", "Range", "Connection"] {
            asked[try #require(HTTPField.Name(name))] = "x"
        }
        #expect(GatewayFields.forwarded(asked, conditional: true).count == 5)
        #expect(GatewayFields.forwarded(asked, conditional: false)[.ifNoneMatch] == nil)
        var answered: HTTPFields = [.contentType: "text/html", .setCookie: "a=b", .server: "x", .eTag: "\"x\""]
        answered.append(HTTPField(name: .cacheControl, lenientValue: Array("a\u{1}b".utf8)))
        let link = try #require(HTTPField.Name("Link"))
        answered[link] = #"<https://hub.example/api/x?cursor=2>; rel="next""#
        let relayed = GatewayFields.relayed(ResponseHead(status: 200, headers: answered)) {
            $0.dropping(prefix: "https://hub.example/").map { "/gw/hf/" + $0 }
        }
        #expect(relayed == [.contentType: "text/html", .eTag: "\"x\"", link: #"</gw/hf/api/x?cursor=2>; rel="next""#])
        answered[link] = #"<https://evil.example/>; rel="next", <x>; rel=other"#
        #expect(GatewayFields.relayed(ResponseHead(status: 200, headers: answered))[link] == nil)
    }

    @Test("Paths of the hub: a file of a model, a data set or a space; its commit replaces the revision")
    func hubPaths() {
        let commit = String(repeating: "0a", count: 20)
        for (path, name, file) in [
            ("a/b/resolve/main/c.bin", "a/b", "c.bin"), ("gpt2/resolve/main/d/c.bin?download=true", "gpt2", "d/c.bin"),
            ("datasets/a/b/resolve/refs%2Fpr%2F1/c", "datasets/a/b", "c"),
            ("spaces/a/b/resolve/v1/x/y/z", "spaces/a/b", "x/y/z"),
        ] {
            let parsed = HubPath(Substring(path))
            #expect(parsed?.text(at: commit) == "\(name)/resolve/\(commit)/\(file)", "\(path)")
        }
        for path in [
            "", "api/models/a", "api/models/a/resolve/main/x", "a/b/raw/main/c", "a/b/resolve/main",
            "a/b/resolve/main/",
            "a//resolve/main/x", "resolve/main/x", "a/b/c/d/resolve/main/x",
        ] {
            #expect(HubPath(Substring(path)) == nil, "\(path)")
        }
        #expect(HubPath("a/b/resolve/main/c")?.text(at: "../../x") == nil)
        for (path, route) in [
            ("api/models/a/b/tree/main/c?recursive=1", .tree), ("api/datasets/a/tree/main", .tree),
            ("api/models/a/b/paths-info/main", .pathsInfo), ("api/models/a/b/tree", .other), ("api/models/a/b", .other),
            ("api/repos/create?x=/paths-info/", .other), ("a/b/x/tree/main", .other), ("", .other),
        ] as [(Substring, HubRoute)] { #expect(HubRoute(path) == route, "\(path)") }
    }

    @Test("Files of the hub: digest, size and commit of a stored one, the tag of a small one")
    func hubFiles() throws {
        func file(_ status: Int, _ fields: [(String, String)]) -> HubFile? {
            var headers = HTTPFields()
            for (name, value) in fields { if let name = HTTPField.Name(name) { headers[name] = value } }
            return HubFile(ResponseHead(status: status, headers: headers))
        }
        let sha = String(repeating: "ab", count: 32)
        let stored = try #require(
            file(
                302,
                [("X-Linked-Etag", "\"\(sha)\""), ("X-Linked-Size", "9"), ("Content-Length", "123"), ("ETag", "\"x\"")])
        )
        #expect(stored.checksum?.hex == sha && stored.size == 9 && stored.entityTag == "\"\(sha)\"")
        let small = try #require(file(200, [("ETag", "W/\"0123\""), ("Content-Length", "5")]))
        #expect(small.checksum == nil && small.size == 5 && small.entityTag == "\"0123\"")
        #expect(file(200, []) == nil && file(200, [("ETag", "\"\"")]) == nil)
        #expect(file(302, [("X-Linked-Etag", sha), ("X-Linked-Size", "-1")])?.size == nil)
        #expect(file(302, [("X-Linked-Etag", sha), ("X-Linked-Size", "9223372036854775807")])?.size == nil)
    }
}
