import Testing

@testable import FerryCore

@Suite("Resolution of Location references")
struct DownloadURLResolvingTests {
    @Test(
        "DownloadURL: references resolve as in RFC 3986 §5.4, without the base's user info",
        arguments: [
            ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
            ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"), ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y"),
            ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
            ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
            ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
            ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
            ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
            ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
            ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"),
            ("g?y/../x", "http://a/b/c/g?y/../x"), ("http://x/y", "http://x/y"), ("HTTPS://X", "https://x/"),
            ("?", "http://a/b/c/d;p?"), ("  /g \t", "http://a/g"), ("/é x", "http://a/%C3%A9%20x"),
            ("/a%20b%", "http://a/a%20b%25"), ("\\\\evil\\x", "http://a/b/c/%5C%5Cevil%5Cx"),
            ("/\\evil/x", "http://a/%5Cevil/x"), ("//b:8080/x", "http://b:8080/x"), ("g/a:b", "http://a/b/c/g/a:b"),
            ("/a:b", "http://a/a:b"), ("?http://x", "http://a/b/c/d;p?http://x"), ("///x/y", nil),
        ] as [(String, String?)])
    func resolved(reference: String, expected: String?) throws {
        let base = try DownloadURL("http://user:pw@a/b/c/d;p?q")
        let result = try? base.resolving(reference)
        #expect(result?.text == expected)
        #expect(result?.credentials == nil)
    }

    @Test("DownloadURL: a relative reference keeps the base's scheme and, where it has no host, its port")
    func schemeAndPort() throws {
        let base = try DownloadURL("https://a:8443/x/")
        #expect(try base.resolving("//b/y").text == "https://b/y")
        #expect(try base.resolving("y").text == "https://a:8443/x/y")
        #expect(try base.resolving("http://a/y").scheme == .http)
    }

    @Test(
        "DownloadURL: a reference with another scheme is an error that names the scheme",
        arguments: [
            ("file:///etc/passwd", "file"), ("ftp://a/x", "ftp"), ("data:,x", "data"), ("javascript:x", "javascript"),
            ("FTP://a/x", "ftp"), ("g:h", "\"g\""), ("localhost:x", "localhost"),
        ])
    func otherSchemes(reference: String, name: String) throws {
        let base = try DownloadURL("http://a/")
        let error = try #require(throws: DownloadError.self) { try base.resolving(reference) }
        #expect(error.message.contains(name), "\(error.message)")
    }

    @Test(
        "DownloadURL: a malformed reference is an error",
        arguments: [
            "http:", "http://", "http:g", "https:///x", "//", "//:80", "/a\u{0}b", "/a\r\nX: y", "//[::1", "//a:0",
            "//a b", "//%00/",
        ])
    func malformed(reference: String) throws {
        let base = try DownloadURL("http://a/b")
        #expect(throws: DownloadError.self) { try base.resolving(reference) }
    }

    @Test("DownloadURL: the user info of a reference is dropped")
    func userInfo() throws {
        let target = try DownloadURL("http://a/").resolving("https://evil:SECRET@a/x?y")
        #expect(target.credentials == nil)
        #expect(target.text == "https://a/x?y")
    }
}
