import FerryCore
import FerryTerminal
import Foundation
import Testing

@Suite("TimeWord") struct TimeWordTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)  // 2023-11-14 22:13:20 UTC

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
        let date = try TimeWord.parse(text, now: Self.now, zone: .fixed(0))
        #expect(RFC3339.text(date) == expected)
    }

    @Test("TimeWord: a date without a zone is in the user's zone")
    func zone() throws {
        let date = try TimeWord.parse("2026-12-24 22:30", now: Self.now, zone: .fixed(3600))
        #expect(RFC3339.text(date) == "2026-12-24T21:30:00.000Z")
    }

    /// Central European Time in 2026: the clock skips 2:00 to 3:00 on 29 March, and repeats it on 25 October.
    private static let berlin = LocalZone { date in
        let seconds = date.timeIntervalSince1970
        return seconds >= 1_774_746_000 && seconds < 1_792_890_000 ? 7200 : 3600
    }

    @Test(
        "TimeWord: a time that the clock skips is later by as much, and one that it repeats is the first",
        arguments: [
            ("2026-03-29 01:59", "2026-03-29T00:59:00.000Z"), ("2026-03-29 02:30", "2026-03-29T01:30:00.000Z"),
            ("2026-03-29 03:00", "2026-03-29T01:00:00.000Z"), ("2026-10-25 02:30", "2026-10-25T00:30:00.000Z"),
            ("2026-10-25 03:00", "2026-10-25T02:00:00.000Z"), ("tomorrow 0:30", "2026-03-28T23:30:00.000Z"),
            ("23:30", "2026-03-28T22:30:00.000Z"),
        ])
    func changes(text: String, expected: String) throws {
        let now = Date(timeIntervalSince1970: 1_774_720_800)  // 2026-03-28 18:00 UTC
        #expect(RFC3339.text(try TimeWord.parse(text, now: now, zone: Self.berlin)) == expected)
    }

    @Test("LocalTime: the clock of the process agrees with that of Foundation, also before 1970")
    func agrees() {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .current
        for seconds in stride(from: -2e9, to: 4e9, by: 98_765_432) {
            let date = Date(timeIntervalSince1970: seconds)
            let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
            let time = LocalTime(date, in: .current)
            #expect([time.day.year, time.day.month, time.day.day] == [parts.year, parts.month, parts.day])
            #expect(time.second == ((parts.hour ?? 0) * 60 + (parts.minute ?? 0)) * 60 + (parts.second ?? 0))
        }
    }

    @Test(
        "TimeWord: times that do not exist are refused",
        arguments: [
            "", "soon", "24:00", "12:60", "2026-02-31 10:00", "2026-12-24", "12:3", "1:2:3", "+",
            "2026-12-24T10:00+25:00", "2026-12-24T10:00:60Z", "13pm", "0am", "10", "pm", "tomorrow",
            "2023-11-14 22:13", "2020-01-01T00:00Z",
        ])
    func refused(text: String) throws {
        #expect(throws: UsageError.self) { try TimeWord.parse(text, now: Self.now, zone: .fixed(0)) }
    }
}
