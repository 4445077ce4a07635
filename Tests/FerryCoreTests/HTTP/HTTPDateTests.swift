import Testing

import struct Foundation.Date

@testable import FerryCore

@Suite("HTTPDate")
struct HTTPDateTests {
    @Test(
        "HTTPDate: all three forms of RFC 9110 are parsed",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Sun Nov 06 08:49:37 1994", 784_111_777),
            ("sun, 06 nov 1994 08:49:37 gmt", 784_111_777), ("Sun, 6 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sun, 06-Nov-1994 08:49:37 GMT", 784_111_777), ("Sun, 06 Nov 1994 08:49:37 UTC", 784_111_777),
            ("Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777), (" Sun, 06 Nov 1994 08:49:37 GMT ", 784_111_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000), ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_799), ("Friday, 01-Jan-69 00:00:00 GMT", 3_124_224_000),
            ("Friday, 01-Jan-70 00:00:00 GMT", 0),
        ] as [(String, Double)])
    func read(text: String, seconds: Double) {
        #expect(HTTPDate.parse(text)?.timeIntervalSince1970 == seconds)
    }

    @Test(
        "HTTPDate: a malformed or impossible date gives nil",
        arguments: [
            "", "0", "784111777", "Sun", "Sun,", "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994", "06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 PST", "Sun, 06 Nov 1994 08:49:37 +0000",
            "Sun, 06 Nov 1994 08:49:37 GMT+1", "Sun, 06 Nov 1994 08:49:37 GMT x", "Sun, 31 Feb 1994 08:49:37 GMT",
            "Wed, 29 Feb 2023 00:00:00 GMT", "Thu, 29 Feb 1900 00:00:00 GMT", "Sun, 31 Apr 1994 08:49:37 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 32 Jan 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
            "Sun, 06 Nov 0000 08:49:37 GMT", "Sun, 06 Nov 194 08:49:37 GMT", "Sun, 06 Nov 19940 08:49:37 GMT",
            "Sun, 06 Now 1994 08:49:37 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT", "Sun,06 Nov 1994 08:49:37 GMT",
            "Sun 06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov 1994 08:49:37 GMT", "Sun, 06  Nov 1994 08:49:37 GMT",
            "Sun Nov 6 08:49:37 94", "Sun Nov  6 08:49:37 1994 GMT", "Sun, 006 Nov 1994 08:49:37 GMT",
            "Sun, -6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:3７ GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT" + String(repeating: " ", count: 64),
        ])
    func malformed(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }

    @Test(
        "HTTPDate: a two-digit year is at most 50 years in the future",
        arguments: [
            ("Sunday, 06-Nov-94 08:49:37 GMT", 2026.0, "1994"), ("Sunday, 06-Nov-76 08:49:37 GMT", 2026, "2076"),
            ("Sunday, 06-Nov-77 08:49:37 GMT", 2026, "1977"), ("Sunday, 06-Nov-26 08:49:37 GMT", 2026, "2026"),
            ("Sunday, 06-Nov-00 08:49:37 GMT", 2090, "2100"), ("Sunday, 06-Nov-94 08:49:37 GMT", .infinity, "1994"),
        ] as [(String, Double, String)])
    func shortYear(text: String, year: Double, expected: String) throws {
        let now = Date(timeIntervalSince1970: (year - 1970) * 31_556_952 + 86_400)
        let date = try #require(HTTPDate.parse(text, now: now))
        #expect(HTTPDate.format(date).contains(" \(expected) "))
    }

    @Test(
        "HTTPDate: dates are written as IMF-fixdate, clamped to years 1 to 9999",
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (784_111_777.9, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (1e18, "Fri, 31 Dec 9999 23:59:59 GMT"), (-1e300, "Mon, 01 Jan 0001 00:00:00 GMT"),
            (.infinity, "Thu, 01 Jan 1970 00:00:00 GMT"), (.nan, "Thu, 01 Jan 1970 00:00:00 GMT"),
        ] as [(Double, String)])
    func written(seconds: Double, expected: String) {
        #expect(HTTPDate.format(Date(timeIntervalSince1970: seconds)) == expected)
    }

    @Test("HTTPDate: days over 800 years are parsed back as they were written")
    func manyDays() {
        var wrong: [Double] = []
        for day in stride(from: -135_000.0, to: 160_000, by: 17) {
            let date = Date(timeIntervalSince1970: day * 86_400 + 45_296)
            if HTTPDate.parse(HTTPDate.format(date)) != date { wrong.append(day) }
        }
        #expect(wrong.isEmpty, "days since 1970: \(wrong.prefix(5))")
    }
}
