import FerryCore
import FerryTerminal
import Foundation
import Testing

@Suite("TimeWord") struct TimeWordTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)  // 2023-11-14 22:13:20 UTC

    private static func calendar(_ seconds: Int = 0) throws -> Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: seconds))
        return calendar
    }

    @Test(
        "TimeWord: times, dates and offsets are parsed, in the user's zone unless they name one",
        arguments: [
            ("22:30", "2023-11-14T22:30:00.000Z"), ("6:05", "2023-11-15T06:05:00.000Z"),
            ("22:13", "2023-11-15T22:13:00.000Z"), ("2026-12-24 22:30", "2026-12-24T22:30:00.000Z"),
            ("2026-12-24T22:30:15Z", "2026-12-24T22:30:15.000Z"),
            ("2026-12-24T22:30:15+01:00", "2026-12-24T21:30:15.000Z"),
            ("2026-12-24T22:30-02:30", "2026-12-25T01:00:00.000Z"), ("+2h", "2023-11-15T00:13:20.000Z"),
            ("10:30pm", "2023-11-14T22:30:00.000Z"), ("10 PM", "2023-11-15T22:00:00.000Z"),
            ("12am", "2023-11-15T00:00:00.000Z"), ("12pm", "2023-11-15T12:00:00.000Z"),
            ("tomorrow 8:00", "2023-11-15T08:00:00.000Z"), ("tomorrow 11pm", "2023-11-15T23:00:00.000Z"),
            ("tomorrow 0:00", "2023-11-15T00:00:00.000Z"),
        ])
    func read(text: String, expected: String) throws {
        let date = try TimeWord.parse(text, now: Self.now, calendar: try Self.calendar())
        #expect(RFC3339.text(date) == expected)
    }

    @Test("TimeWord: a date without a zone is in the calendar's zone")
    func zone() throws {
        let date = try TimeWord.parse("2026-12-24 22:30", now: Self.now, calendar: try Self.calendar(3600))
        #expect(RFC3339.text(date) == "2026-12-24T21:30:00.000Z")
    }

    @Test(
        "TimeWord: times that do not exist are refused",
        arguments: [
            "", "soon", "24:00", "12:60", "2026-02-31 10:00", "2026-12-24", "12:3", "1:2:3", "+",
            "2026-12-24T10:00+25:00", "13pm", "0am", "10", "pm", "tomorrow", "2023-11-14 22:13", "2020-01-01T00:00Z",
        ])
    func refused(text: String) throws {
        let calendar = try Self.calendar()
        #expect(throws: UsageError.self) { try TimeWord.parse(text, now: Self.now, calendar: calendar) }
    }
}
