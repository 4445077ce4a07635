import Testing

import struct Foundation.Data
import class Foundation.JSONDecoder
import class Foundation.JSONEncoder

@testable import FerryCore

@Suite("DownloadURL")
struct DownloadURLTests {
    @Test(
        "DownloadURL: the text of earlier versions has every character encoded that RFC 3986 does not allow in a query",
        arguments: [
            ("http://h/a?b={c}[%]|%41", "http://h/a?b=%7Bc%7D%5B%25%5D%7C%41"), ("http://h/a?b=%7Bc%7D", nil),
            ("http://h/{a}", nil), ("http://h/a?", nil),
        ] as [(String, String?)])
    func earlierText(text: String, expected: String?) { #expect(DownloadURL.earlierText(of: text) == expected) }

    @Test(
        "DownloadURL: spellings of one URL are normalised, and a second parse changes nothing",
        arguments: [
            ("http://example.com", "http://example.com/"),
            ("https://example.com/", "https://example.com/"),
            ("HTTPS://EXAMPLE.com/A", "https://example.com/A"),
            ("  \thttp://example.com/a \r\n", "http://example.com/a"),
            ("http://example.com:80/", "http://example.com/"),
            ("https://example.com:443/", "https://example.com/"),
            ("http://example.com:443/", "http://example.com:443/"),
            ("http://example.com:/x", "http://example.com/x"),
            ("http://example.com:00080/", "http://example.com/"),
            ("http://example.com:65535/", "http://example.com:65535/"),
            ("http://example.com:1/", "http://example.com:1/"),
            ("http://example.com?q", "http://example.com/?q"),
            ("http://example.com/?", "http://example.com/?"),
            ("http://example.com#top", "http://example.com/"),
            ("http://example.com/a#b?c", "http://example.com/a"),
            ("http://example.com/a?b#c", "http://example.com/a?b"),
            ("http://example.com/a?b?c/d", "http://example.com/a?b?c/d"),
            ("http://example.com/a b", "http://example.com/a%20b"),
            ("http://example.com/a%20b", "http://example.com/a%20b"),
            ("http://example.com/a%2fb", "http://example.com/a%2fb"),
            ("http://example.com/100%", "http://example.com/100%25"),
            ("http://example.com/100%2", "http://example.com/100%252"),
            ("http://example.com/%zz%41", "http://example.com/%25zz%41"),
            ("http://example.com/%%41", "http://example.com/%25%41"),
            ("http://example.com/文件.zip", "http://example.com/%E6%96%87%E4%BB%B6.zip"),
            ("http://example.com/?q=é ü", "http://example.com/?q=%C3%A9%20%C3%BC"),
            ("http://example.com/a\\b", "http://example.com/a%5Cb"),
            ("http://example.com/?a\\b", "http://example.com/?a%5Cb"),
            ("http://example.com/\"<>`{}|^[]", "http://example.com/%22%3C%3E%60%7B%7D%7C%5E%5B%5D"),
            ("http://example.com/?\"<> \\", "http://example.com/?%22%3C%3E%20%5C"),
            ("http://example.com/?a[0]={b}|^`%&c=%zz%2f%41%", "http://example.com/?a[0]={b}|^`%&c=%zz%2f%41%"),
            ("http://example.com/-._~!$&'()*+,;=:@", "http://example.com/-._~!$&'()*+,;=:@"),
            ("http://example.com/a//b", "http://example.com/a//b"),
            ("http://example.com/a/../b/./c", "http://example.com/b/c"),
            ("http://example.com/../../x", "http://example.com/x"),
            ("http://example.com/a/..", "http://example.com/"),
            ("http://example.com/..a/.b/...", "http://example.com/..a/.b/..."),
            ("http://user:pw@example.com/x", "http://example.com/x"),
            ("http://@example.com/x", "http://example.com/x"),
            ("http://a@b@example.com/x", "http://example.com/x"),
            ("http://example.com/@user/x", "http://example.com/@user/x"),
            ("http://example.com./x", "http://example.com./x"),
            ("http://a_b.example.com/", "http://a_b.example.com/"),
            ("http://-a.example.com/", "http://-a.example.com/"),
            ("http://ex%61mple.com/", "http://example.com/"),
            ("http://localhost:3377/x", "http://localhost:3377/x"),
        ])
    func normalized(given: String, expected: String) throws {
        let url = try DownloadURL(given)
        #expect(url.text == expected)
        #expect(try DownloadURL(url.text).text == expected, "a second reading changes nothing")
    }

    @Test(
        "DownloadURL: an unusable URL is refused with a reason on one line",
        arguments: [
            ("", "is empty"),
            ("   ", "is empty"),
            ("ftp://example.com/x", "\"ftp\""),
            ("FILE:///etc/passwd", "\"file\""),
            ("data:text/plain,x", "\"data\""),
            ("javascript:alert(1)", "\"javascript\""),
            ("magnet:?xt=urn:btih:1", "\"magnet\""),
            ("example.com/x", "did you mean https://example.com/x?"),
            ("example.com:8080/x", "did you mean https://example.com:8080/x?"),
            ("localhost:80", "did you mean https://localhost:80?"),
            ("//example.com/x", "did you mean https://example.com/x?"),
            ("/etc/passwd", "neither http:// nor https://"),
            ("./x.part", "neither http:// nor https://"),
            ("../x.part", "neither http:// nor https://"),
            ("?x", "neither http:// nor https://"),
            ("://example.com", "neither http:// nor https://"),
            ("1http://example.com", "neither http:// nor https://"),
            ("http:", "no host"),
            ("http:/", "no host"),
            ("http://", "no host"),
            ("http:///x", "no host"),
            ("http://?x", "no host"),
            ("http://#x", "no host"),
            ("http://:80/x", "no host"),
            ("http://user@/x", "no host"),
            ("http:example.com", "no host"),
            ("http:/example.com", "no host"),
            ("http:\\\\example.com\\x", "no host"),
            ("http://example.com\\@evil.example/", "backslash"),
            ("http://evil.example\\.example.com/", "backslash"),
            ("http://example.com:0/", "port"),
            ("http://example.com:65536/", "port"),
            ("http://example.com:99999999999999999999999/", "port"),
            ("http://example.com:-1/", "port"),
            ("http://example.com:+80/", "port"),
            ("http://example.com:80a/", "port"),
            ("http://example.com:８０/", "port"),
            ("http://exa mple.com/", "character"),
            ("http://exam<ple.com/", "character"),
            ("http://exam%2Fple.com/", "character"),
            ("http://exam%00ple.com/", "character"),
            ("http://exam%25ple.com/", "character"),
            ("http://example.com%40evil.example/", "character"),
            ("http://*.example.com/", "character"),
            ("http://a..b/", "dots"),
            ("http://.a/", "dots"),
            ("http://./", "dots"),
            ("http://a../", "dots"),
            ("http://%FF.com/", "UTF-8"),
            ("http://%FF:x@example.com/", "UTF-8"),
            ("http://a%0Ab:x@example.com/", "control"),
            ("http://example.com/a\nb", "control"),
            ("http://example.com/a\u{0}b", "control"),
            ("http://example.com/a\tb", "control"),
            ("http://example.com/a\u{7F}", "control"),
            ("http://ex\u{202E}ample.com/", "character"),
            ("http://ex\u{FFFD}mple.com/", "character"),
            ("http://\u{301}a.com/", "character"),
        ])
    func refused(given: String, reason: String) throws {
        let error = try #require(throws: DownloadError.self) { try DownloadURL(given) }
        #expect(error.message.contains(reason), "\(error.message)")
        #expect(!error.message.contains("\n"))
    }

    @Test(
        "DownloadURL: an error shows no password, query or fragment",
        arguments: [
            "ftp://user:SECRET@example.com/x",
            "http://user:SECRET/x@example.com/",
            "http://user:SECRET?x@example.com:99999/",
            "http://user:SEC@RET@exa mple.com/",
            "http://example.com:99999/x?token=SECRET",
            "http://example.com:99999/x?token=a@SECRET",
            "http://example.com:99999/x#SECRET",
            "example.com/x?token=SECRET",
            "user:SECRET@example.com/x",
            "foo:SECRET@example.com",
        ])
    func redactedErrors(given: String) throws {
        let error = try #require(throws: DownloadError.self) { try DownloadURL(given) }
        #expect(!error.message.contains("SEC"), "\(error.message)")
        #expect(!error.message.contains("RET"), "\(error.message)")
    }

    @Test("DownloadURL: an error shows long or invisible text shortened and escaped")
    func longErrors() throws {
        let error = try #require(throws: DownloadError.self) {
            try DownloadURL("ftp://\u{1B}[31m\u{202E}/" + String(repeating: "a", count: 60_000))
        }
        #expect(error.message.utf8.count < 500)
        #expect(!error.message.unicodeScalars.contains("\u{1B}") && !error.message.unicodeScalars.contains("\u{202E}"))
    }

    @Test("DownloadURL: the parts of a URL are available decoded and as text")
    func parts() throws {
        let url = try DownloadURL("https://us%20er:p%3Aw%40@Example.com:8443/a/b%20c.zip?t=1&u=%2F#f")
        #expect(url.scheme == .https)
        #expect(url.host == "example.com")
        #expect(url.port == 8443)
        #expect(url.path == "/a/b%20c.zip")
        #expect(url.query == "t=1&u=%2F")
        #expect(url.credentials == Credentials(user: "us er", password: "p:w@"))
        #expect(url.authority == "example.com:8443")
        #expect(url.requestTarget == "/a/b%20c.zip?t=1&u=%2F")
        #expect(url.text == "https://example.com:8443/a/b%20c.zip?t=1&u=%2F")
        #expect(url.redacted == "https://example.com:8443/a/b%20c.zip?…")
        #expect("\(url)" == url.redacted)
        #expect(url.lastPathSegment == Array("b c.zip".utf8))
        #expect(url.origin == Origin(scheme: .https, host: "example.com", port: 8443))
    }

    @Test(
        "DownloadURL: user info is parsed as credentials",
        arguments: [
            ("http://u@h/", Credentials(user: "u", password: "")),
            ("http://u:@h/", Credentials(user: "u", password: "")),
            ("http://:p@h/", Credentials(user: "", password: "p")),
            ("http://u:p:q@h/", Credentials(user: "u", password: "p:q")),
            ("http://a@b:c@h/", Credentials(user: "a@b", password: "c")),
            ("http://密:碼@h/", Credentials(user: "密", password: "碼")),
            ("http://u:100%@h/", Credentials(user: "u", password: "100%")),
            ("http://h/", nil),
            ("http://@h/", nil),
        ] as [(String, Credentials?)])
    func credentials(given: String, expected: Credentials?) throws {
        #expect(try DownloadURL(given).credentials == expected)
    }

    @Test(
        "DownloadURL: the last path segment is decoded to bytes",
        arguments: [
            ("http://h/a/b", "b"), ("http://h/a/", ""), ("http://h", ""), ("http://h/a%2Fb", "a/b"),
            ("http://h/%", "%"),
            ("http://h/x.zip?y/z", "x.zip"),
        ])
    func lastSegment(given: String, expected: String) throws {
        #expect(try DownloadURL(given).lastPathSegment == Array(expected.utf8))
    }

    @Test("DownloadURL: 64 KiB in encoded form are accepted, and one byte more is refused")
    func longest() throws {
        let start = "http://h/"
        let longest = start + String(repeating: "a", count: 65_536 - start.utf8.count)
        #expect(try DownloadURL(longest).text == longest)
        #expect(throws: DownloadError.self) { try DownloadURL(longest + "a") }
        #expect(throws: DownloadError.self, "what is encoded counts") {
            try DownloadURL(start + String(repeating: "é", count: 30_000))
        }
        #expect(throws: DownloadError.self) {
            try DownloadURL(String(longest.dropLast()) + "/").resolving(String(repeating: "b", count: 100))
        }
    }

    @Test("DownloadURL: it is coded as its text, without user info")
    func coding() throws {
        let url = try DownloadURL("http://u:p@h/x?y")
        let data = try JSONEncoder().encode([url])
        #expect(String(decoding: data, as: UTF8.self) == #"["http:\/\/h\/x?y"]"#)
        #expect(try JSONDecoder().decode([DownloadURL].self, from: data) == [DownloadURL("http://h/x?y")])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([DownloadURL].self, from: Data(#"["ftp://h/"]"#.utf8))
        }
    }

    @Test(
        "DownloadURL: random text never traps, and an accepted URL parses again to the same value",
        arguments: 0..<8 as Range<UInt64>)
    func fuzz(seed: UInt64) throws {
        var fuzz = SeededBytes(seed: seed)
        let pieces = [
            "http://", "https:", "//", "/", ":", "@", "[", "]", "::1", "%", "%41", "%ff", "?", "#", ".", "..", "/../",
            "xn--", "例", "é", "80", "127.0.0.1", "a", "example.com", "\\", " ",
        ]
        var accepted = 0
        for round in 0..<4000 {
            let text = (round % 2 == 0 ? "http://h" : "") + fuzz.text(from: pieces, upTo: 14)
            guard let url = try? DownloadURL(text) else { continue }
            accepted += 1
            #expect(
                url.path.utf8.first == UInt8(ascii: "/") && !url.host.isEmpty, "seed \(seed): \(text.debugDescription)")
            #expect(url.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "seed \(seed): \(text.debugDescription)")
            let again = try DownloadURL(url.text)
            #expect(again.text == url.text && again.origin == url.origin, "seed \(seed): \(text.debugDescription)")
            if let moved = try? url.resolving(fuzz.text(from: pieces, upTo: 8)) {
                #expect(try DownloadURL(moved.text) == moved, "seed \(seed): \(text.debugDescription)")
            }
        }
        #expect(accepted > 100)
    }
}
