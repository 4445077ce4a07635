import FerryCore
import Testing

import struct Foundation.Date

@Suite("Cookies (RFC 6265)")
struct CookieTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func header(_ cookies: [(String, String)], for url: String, later: Double = 0) throws -> String? {
        var jar = CookieJar()
        for (cookie, source) in cookies { jar.store(cookie, from: try DownloadURL(source), now: now) }
        return jar.header(for: try DownloadURL(url), now: now.addingTimeInterval(later))
    }

    @Test(
        "CookieJar: a cookie is sent only where its domain, path and scheme allow it",
        arguments: [
            ("a=b", "http://h.example/x/y", "http://h.example/x/z", "a=b"),
            ("a=b", "http://h.example/x/y", "http://h.example/x", "a=b"),
            ("a=b", "http://h.example/x/y", "http://h.example/xz", nil),
            ("a=b", "http://h.example/x", "http://h.example/other", "a=b"),
            ("a=b", "http://h.example/", "http://sub.h.example/", nil),
            ("a=b", "http://h.example/", "http://evil.example/", nil),
            ("a=b", "http://h.example:8080/", "http://h.example:9090/", "a=b"),
            ("a=b; Domain=h.example", "http://www.h.example/", "http://cdn.h.example/", "a=b"),
            ("a=b; domain=.H.Example", "http://www.h.example/", "http://h.example/", "a=b"),
            ("a=b; Domain=h.example", "http://h.example/", "http://a.b.h.example/", "a=b"),
            ("a=b; Domain=h.example", "http://www.h.example/", "http://nonh.example/", nil),
            ("a=b; Domain=www.h.example", "http://h.example/", "http://www.h.example/", nil),
            ("a=b; Domain=other.example", "http://h.example/", "http://other.example/", nil),
            ("a=b; Domain=example", "http://h.example/", "http://h.example/", nil),
            ("a=b; Domain=co.uk", "http://h.co.uk/", "http://x.co.uk/", nil),
            ("a=b; Domain=co.uk", "http://h.co.uk/", "http://h.co.uk/", nil),
            ("a=b; Domain=h.co.uk", "http://h.co.uk/", "http://x.h.co.uk/", "a=b"),
            ("a=b; Domain=h.example.", "http://h.example/", "http://h.example/", nil),
            ("a=b; Domain=", "http://h.example/", "http://h.example/", "a=b"),
            ("a=b; Domain=localhost", "http://localhost/", "http://localhost/", "a=b"),
            ("a=b; Domain=localhost", "http://localhost/", "http://x.localhost/", nil),
            ("a=b; Domain=127.0.0.1", "http://127.0.0.1/", "http://127.0.0.1/", "a=b"),
            ("a=b; Domain=0.0.1", "http://127.0.0.1/", "http://127.0.0.1/", nil),
            ("a=b; Domain=::1", "http://[::1]/", "http://[::1]/", "a=b"),
            ("a=b; Secure", "https://h.example/", "https://h.example/", "a=b"),
            ("a=b; Secure", "https://h.example/", "http://h.example/", nil),
            ("a=b; Secure", "http://h.example/", "https://h.example/", nil),
            ("a=b; Path=/x", "http://h.example/", "http://h.example/x/y", "a=b"),
            ("a=b; Path=/x", "http://h.example/", "http://h.example/xy", nil),
            ("a=b; Path=x", "http://h.example/p/q", "http://h.example/p/", "a=b"),
            ("__Host-a=b; Secure; Path=/", "https://h.example/x", "https://h.example/", "__Host-a=b"),
            ("__Host-a=b; Secure; Path=/; Domain=h.example", "https://h.example/x", "https://h.example/", nil),
            ("__Secure-a=b", "https://h.example/", "https://h.example/", nil),
        ] as [(String, String, String, String?)])
    func scope(_ cookie: String, _ source: String, _ target: String, _ expected: String?) throws {
        #expect(try header([(cookie, source)], for: target) == expected)
    }

    @Test(
        "CookieJar: names and values are kept as they are, and malformed cookies are ignored",
        arguments: [
            (" a = b c ;x", "a=b c"), ("a=\"q\"", "a=\"q\""), ("a=b=c", "a=b=c"), ("a=", "a="), ("=b", nil), ("a", nil),
            ("", nil), (";", nil), ("a=b\u{1}c", nil), ("a=b\r\nX: y", nil), ("a\u{0}=b", nil), ("a=b; =; ;;", "a=b"),
            ("a=" + String(repeating: "x", count: 4096), nil), ("a=ü", "a=ü"),
        ] as [(String, String?)])
    func pairs(_ cookie: String, _ expected: String?) throws {
        #expect(try header([(cookie, "http://h.example/")], for: "http://h.example/") == expected)
    }

    @Test(
        "CookieJar: a cookie expires at its Max-Age, else at its Expires",
        arguments: [
            ("Max-Age=10", 9, true), ("Max-Age=10", 11, false), ("Max-Age=0", 0, false), ("Max-Age=-1", 0, false),
            ("Max-Age=99999999999999999999", 86_400 * 399, true), ("Max-Age=99999999999999999999", 86_400 * 401, false),
            ("Max-Age=x", 1e9, true), ("Max-Age=", 1e9, true),
            ("Expires=Tue, 14 Nov 2023 22:13:30 GMT", 9, true), ("Expires=Tue, 14 Nov 2023 22:13:30 GMT", 11, false),
            ("Expires=Tuesday, 14-Nov-23 22:13:30 GMT", 9, true), ("Expires=Tue Nov 14 22:13:30 2023", 11, false),
            ("Expires=Thu, 01 Jan 1970 00:00:00 GMT", 0, false), ("Expires=nonsense", 1e9, true),
            ("Expires=Wed, 30 Feb 2000 00:00:00 GMT", 1e9, true), ("Expires=Tue, 29 Feb 2000 00:00:00 GMT", 0, false),
            ("Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=10", 9, true),
            ("Max-Age=0; Expires=Fri, 31 Dec 9999 23:59:59 GMT", 0, false),
        ] as [(String, Double, Bool)])
    func expiry(_ attribute: String, _ later: Double, _ isSent: Bool) throws {
        let found = try header([("a=b; \(attribute)", "http://h.example/")], for: "http://h.example/", later: later)
        #expect((found == "a=b") == isSent)
    }

    @Test("CookieJar: longer paths come first, then older cookies; a new value replaces, a past date removes")
    func order() throws {
        let url = "https://h.example/x/y"
        #expect(
            try header(
                [
                    ("a=1; Path=/", url), ("b=2", url), ("c=3; Path=/x/y", url), ("d=4; Path=/", url),
                    ("a=5; Path=/", url),
                ],
                for: url) == "c=3; b=2; a=5; d=4")
        #expect(try header([("a=1", url), ("a=2; Max-Age=0", url)], for: url) == nil)
        #expect(
            try header(
                [("a=1; Domain=h.example; Path=/", url), ("b=2; Path=/", "https://w.h.example/")],
                for: "https://w.h.example/") == "b=2; a=1")
    }

    @Test("CookieJar: a cookie set over http does not replace a secure one set over https") func shadow() throws {
        #expect(
            try header(
                [("a=safe; Secure; Path=/", "https://h.example/"), ("a=evil; Path=/", "http://h.example/")],
                for: "https://h.example/") == "a=safe")
    }

    @Test("CookieJar: the cookies per domain and the header's length are bounded, and descriptions show no values")
    func limits() throws {
        var jar = CookieJar()
        let url = try DownloadURL("http://h.example/")
        for index in 0..<500 { jar.store("n\(index)=v", from: url, now: now) }
        #expect(jar.count == CookieJar.maxPerDomain)
        let header = try #require(jar.header(for: url, now: now))
        #expect(header.hasSuffix("n499=v") && !header.contains("n399=v"))
        for index in 0..<50 {
            jar.store("big\(index)=" + String(repeating: "x", count: 1000), from: url, now: now)
        }
        #expect(try #require(jar.header(for: url, now: now)).utf8.count <= CookieJar.maxHeaderBytes)
        #expect(!"\(jar)".contains("n499") && !String(reflecting: jar).contains("xxx"))
    }

    @Test("CookieJar: Netscape cookie files are read, and the numbers of malformed lines are reported") func file()
        throws
    {
        let jar = CookieJar(
            netscapeFile: [
                "\u{FEFF}# Netscape HTTP Cookie File\r", "", ".h.example\tTRUE\t/\tFALSE\t0\tall\t1\r",
                "#HttpOnly_h.example\tFALSE\t/x\tTRUE\t1800000000\thidden\ta=b c",
                "h.example\tFALSE\t/\tFALSE\t1\told\tv",
                "h.example\tFALSE\t/\tFALSE\t0\tempty", "h.example FALSE / FALSE 0 spaces v", "too\tfew",
                "h.example\tFALSE\t/\tFALSE\twhen\tn\tv", "#HttpOnly_", "h.example\tFALSE\t/\tFALSE\t0\tn\tv; evil=1",
                "com\tTRUE\t/\tFALSE\t0\tsuper\tv", "h.example\tFALSE\t/\tFALSE\t1800000000.5\tfloat\tv",
            ].joined(separator: "\n"))
        #expect(jar.skippedLines == [7, 8, 9, 10, 11])
        #expect(
            jar.header(for: try DownloadURL("https://h.example/x/y"), now: now)
                == "hidden=a=b c; all=1; empty=; float=v")
        #expect(jar.header(for: try DownloadURL("http://sub.h.example/x"), now: now) == "all=1")
        #expect(jar.header(for: try DownloadURL("http://h.com/"), now: now) == nil)
        #expect(jar.header(for: try DownloadURL("http://other.example/"), now: now) == nil)
    }

    @Test(
        "CookieJar: random text never traps, and a header has no control characters",
        arguments: [61, 62, 63] as [UInt64])
    func anyText(seed: UInt64) throws {
        var random = SeededBytes(seed: seed)
        let url = try DownloadURL("https://www.h.example/a/b")
        let pieces = [
            "a=b", ";", "=", "Domain=", ".h.example", "Path=/", "Max-Age=", "Expires=", "99", "14 Nov 2023", "22:13:30",
            "Secure", "\t", "\n", "TRUE", "0", "#HttpOnly_",
        ]
        for _ in 0..<3000 {
            var jar = CookieJar(netscapeFile: random.text(of: pieces))
            jar.store(random.text(of: pieces), from: url, now: now)
            if let header = jar.header(for: url, now: now) {
                #expect(!header.isEmpty && !header.utf8.contains { $0 < 0x20 && $0 != 0x09 })
            }
        }
    }
}
