import Testing

import struct Foundation.Date

@testable import FerryCore

@Suite("Response fields")
struct FieldParserTests {
    @Test(
        "ContentRange: valid fields are parsed to range and total",
        arguments: [
            ("bytes 0-499/1234", .part(0..<500, total: 1234)), ("bytes 0-0/1", .part(0..<1, total: 1)),
            ("bytes 500-999/*", .part(500..<1000, total: nil)), ("bytes */1234", .unsatisfied(total: 1234)),
            ("bytes */0", .unsatisfied(total: 0)), ("BYTES 1-2/3", .part(1..<3, total: 3)),
            (" bytes 1-2/3\t", .part(1..<3, total: 3)), ("bytes 007-008/0100", .part(7..<9, total: 100)),
            (
                "bytes 0-4611686018427387902/4611686018427387903",
                .part(0..<4_611_686_018_427_387_903, total: 4_611_686_018_427_387_903)
            ),
        ] as [(String, ContentRange)])
    func contentRange(field: String, expected: ContentRange) {
        #expect(ContentRange(field) == expected)
    }

    @Test(
        "ContentRange: a malformed or too large field gives nil",
        arguments: [
            "", " ", "bytes", "bytes ", "bytes 5-4/10", "bytes 0-10/10", "bytes 0-9/9", "bytes 0-9/0", "bytes -1-5/10",
            "bytes 0--5/10", "bytes 0-+5/10", "bytes -5/10", "bytes 5-/10", "bytes 0-/10", "bytes 0-5", "bytes 0-5/",
            "bytes=0-5/10", "bytes=0-5", "bytes:0-5/10", "bytes0-5/10", "items 0-5/10", "byte 0-5/10", "0-5/10",
            "bytes 0-5/10 ,", "bytes 0-5/10, bytes 6-9/10", "bytes 0-5 /10", "bytes 0 -5/10", "bytes 0- 5/10",
            "bytes 0-5/ 10", "bytes  0-5/10", "bytes */*", "bytes */", "bytes *", "bytes */-1", "bytes */x",
            "bytes *-5/10", "bytes 0-*/10", "bytes 0x0-0x5/10", "bytes 0-5/1e9", "bytes 0-5/10.0",
            "bytes 0-4611686018427387903/*", "bytes 0-5/4611686018427387904", "bytes */4611686018427387904",
            "bytes 0-9223372036854775807/*", "bytes 0-9223372036854775808/*", "bytes 9223372036854775808-1/*",
            "bytes 0-5/9223372036854775808", "bytes 0-5/99999999999999999999999999", "bytes 0-5/1٠", "bytes 0-5//10",
            "bytes 0-5-6/10", "bytes\t0-5/10", "bytes 18446744073709551616-18446744073709551620/*",
            "multipart/byteranges", "bytes 0-5/10" + String(repeating: " ", count: 200),
        ])
    func badContentRange(field: String) {
        #expect(ContentRange(field) == nil)
    }

    @Test(
        "EntityTag: strong and weak tags are parsed and written back unchanged",
        arguments: [
            ("\"abc\"", "abc", false), ("W/\"abc\"", "abc", true), ("\"\"", "", false), (" \"a\" ", "a", false),
            ("\"a\\b\"", "a\\b", false), ("\"W/x\"", "W/x", false), ("\"é\"", "é", false), ("\"a b\"", "a b", false),
            ("\"-gzip'{}\"", "-gzip'{}", false),
            ("\"\(String(repeating: "a", count: 1022))\"", String(repeating: "a", count: 1022), false),
        ] as [(String, String, Bool)])
    func entityTag(field: String, opaque: String, isWeak: Bool) throws {
        let tag = try #require(EntityTag(field))
        #expect(tag.opaque == opaque)
        #expect(tag.isWeak == isWeak)
        #expect(EntityTag(tag.field) == tag)
    }

    @Test(
        "EntityTag: a tag that is unquoted, over 1 KiB or has control bytes gives nil",
        arguments: [
            "", "abc", "\"", "\"abc", "abc\"", "w/\"abc\"", "W\"abc\"", "W/abc", "W/", "W/ \"a\"", "'abc'", "\"a\"b\"",
            "\"a\", \"b\"", "\"a\u{0}b\"", "\"a\u{7F}\"", "\"a\tb\"", "\"a\nb\"", "*", "“a”", "\"a\u{FFFD}\"",
            "\"\(String(repeating: "a", count: 1023))\"", "W/\"\(String(repeating: "a", count: 4096))\"",
        ])
    func badEntityTag(field: String) {
        #expect(EntityTag(field) == nil)
    }

    @Test("EntityTag: tags are compared by their bytes and strength")
    func entityTagEquality() {
        #expect(EntityTag("\"\u{E9}\"") != EntityTag("\"e\u{301}\""))
        #expect(EntityTag("\"a\"") != EntityTag("W/\"a\""))
        #expect(EntityTag("\"a\"") != EntityTag("\"A\""))
        #expect(EntityTag(" \"a\"") == EntityTag("\"a\""))
    }

    @Test(
        "RetryAfter: seconds and dates are parsed, and capped at six hours",
        arguments: [
            ("0", .zero), ("120", .seconds(120)), (" 7 ", .seconds(7)), ("21600", .seconds(21600)),
            ("21601", .seconds(21600)), ("99999999999", .seconds(21600)),
            ("99999999999999999999999999999999", .seconds(21600)), ("Sun, 06 Nov 1994 08:49:47 GMT", .seconds(10)),
            ("Sunday, 06-Nov-94 08:50:37 GMT", .seconds(60)), ("Sun Nov  6 09:49:37 1994", .seconds(3600)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", .zero), ("Sat, 05 Nov 1994 08:49:37 GMT", .zero),
            ("Mon, 06 Nov 9999 08:49:37 GMT", .seconds(21600)), ("", nil), ("-1", nil), ("+1", nil), ("1.5", nil),
            ("1s", nil), ("0x10", nil), ("soon", nil), ("1, 2", nil), ("٣", nil),
            ("Sun, 31 Feb 1994 08:49:37 GMT", nil),
            (String(repeating: "1", count: 200), nil),
        ] as [(String, Duration?)])
    func retryAfter(field: String, expected: Duration?) {
        #expect(RetryAfter.delay(field, now: Date(timeIntervalSince1970: 784_111_777)) == expected)
    }

    @Test(
        "RetryAfter: an absurd clock never traps and keeps the delay in bounds",
        arguments: [.infinity, -.infinity, .nan, 1e300, -1e300])
    func retryAfterClock(now: Double) {
        let delay = RetryAfter.delay("Sun, 06 Nov 1994 08:49:47 GMT", now: Date(timeIntervalSince1970: now))
        #expect(delay.map { $0 >= .zero && $0 <= .seconds(21600) } ?? true)
    }

    @Test(
        "MediaType: Content-Type is parsed, and HTML types are recognised",
        arguments: [
            ("text/html", "text/html", true), ("Text/HTML; charset=utf-8", "text/html", true),
            ("application/xhtml+xml", "application/xhtml+xml", true), (" text/html ;x", "text/html", true),
            ("application/octet-stream", "application/octet-stream", false), ("text/plain", "text/plain", false),
            ("application/html", "application/html", false), ("text/html5", "text/html5", false), ("text", nil, false),
            ("text/", nil, false), ("/html", nil, false), ("", nil, false), ("a/b/c", nil, false),
            ("text /html", nil, false), ("text/h\u{0}tml", nil, false), ("text/html, text/plain", nil, false),
            (";text/html", nil, false), ("t€xt/html", nil, false),
        ] as [(String, String?, Bool)])
    func mediaType(field: String, expected: String?, isHTML: Bool) {
        let type = MediaType(field)
        #expect(type?.description == expected)
        #expect(type?.isHTML ?? false == isHTML)
    }

    @Test(
        "Response fields: random bytes never trap, and parsed values stay in bounds", arguments: 0..<4 as Range<UInt64>)
    func fuzz(seed: UInt64) {
        var fuzz = SeededBytes(seed: seed)
        let pieces = [
            "bytes ", "0", "9223372036854775807", "-", "/", "*", "\"", "W/", "text", "Sun, ", "06 ", "Nov ", "1994 ",
            "08:49:37 ", "GMT", ",", " ", "99",
        ]
        let now = Date(timeIntervalSince1970: 0)
        for _ in 0..<5000 {
            let text = fuzz.text(from: pieces, upTo: 9)
            if case .part(let range, let total)? = ContentRange(text) {
                #expect(range.lowerBound >= 0 && !range.isEmpty && range.upperBound <= total ?? .max, "seed \(seed)")
            }
            if let tag = EntityTag(text) { #expect(EntityTag(tag.field) == tag, "seed \(seed)") }
            if let delay = RetryAfter.delay(text, now: now) {
                #expect(delay >= .zero && delay <= RetryAfter.longest, "seed \(seed)")
            }
            if let date = HTTPDate.parse(text) {
                #expect(HTTPDate.parse(HTTPDate.format(date)) == date, "seed \(seed)")
            }
            _ = MediaType(text)
        }
    }
}
