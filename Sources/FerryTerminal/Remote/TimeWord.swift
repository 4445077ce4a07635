import FerryCore

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Parses times on the command line. Pure: the current time and the time zone are arguments.
package enum TimeWord {
    /// Parses `22:30` or `10pm` (today, or tomorrow if that has passed), `tomorrow 8:00`, `2026-12-24 22:30`,
    /// `2026-12-24T22:30:00Z` or with an offset such as `+01:00`, and `+2h`, which is relative to now. Throws for a time
    /// in the past.
    package static func parse(_ text: String, now: Date, zone: LocalZone) throws(UsageError) -> Date {
        if text.utf8.hasPrefix("+") {
            do throws(TextError) {
                return now.addingTimeInterval(Seconds.of(try DurationText.parse(String(text.dropFirst()))))
            } catch { throw UsageError(error.reason) }
        }
        let today = LocalTime(now, in: zone).day
        if let second = clock(text[...]) {
            let time = LocalTime(day: today, second: second)
            let date = time.date(in: zone)
            return date > now ? date : time.adding(days: 1).date(in: zone)
        }
        if let rest = text.dropping(prefix: "tomorrow "), let second = clock(rest) {
            return LocalTime(day: today, second: second).adding(days: 1).date(in: zone)
        }
        guard let date = day(text, zone: zone) else {
            throw UsageError(
                "\(text) is not a time: write 22:30, 10pm, tomorrow 8:00, 2026-12-24 22:30, 2026-12-24T22:30:00Z or +2h"
            )
        }
        guard date > now else { throw UsageError("\(text) has passed") }
        return date
    }

    /// Parses `22:30`, `10pm` and `10:30 pm`, as seconds since midnight.
    private static func clock(_ text: Substring) -> Int? {
        var text = text.trimmedText.lowercased()
        var half: Int?
        for (suffix, hours) in [("am", 0), ("pm", 12)] {
            guard let rest = text.dropping(suffix: suffix) else { continue }
            (text, half) = (rest.trimmedText, hours)
        }
        // `10pm` may omit the minutes; `10` by itself is not a time.
        guard
            let parts = numbers(
                half == nil || text.utf8.contains(":") ? text : text + ":00", ":", digits: [1...2, 2...2])
        else { return nil }
        var hour = parts[0]
        guard parts[1] < 60 else { return nil }
        if let half {
            guard 1...12 ~= hour else { return nil }
            hour = hour % 12 + half
        }
        return hour < 24 ? (hour * 60 + parts[1]) * 60 : nil
    }

    private static func day(_ text: String, zone: LocalZone) -> Date? {
        guard let gap = text.firstIndex(where: { $0 == "T" || $0 == " " }) else { return nil }
        guard let days = numbers(text[..<gap], "-", digits: [4...4, 2...2, 2...2]) else { return nil }
        var rest = text[text.index(after: gap)...]
        var zone = zone
        if rest.utf8.hasSuffix("Z") {
            zone = .fixed(0)
            rest.removeLast()
        } else if let sign = rest.firstIndex(where: { $0 == "+" || $0 == "-" }) {
            guard let offset = numbers(rest[rest.index(after: sign)...], ":", digits: [2...2, 2...2]), offset[0] < 24,
                offset[1] < 60
            else { return nil }
            let seconds = (offset[0] * 60 + offset[1]) * 60
            zone = .fixed(rest[sign] == "-" ? -seconds : seconds)
            rest = rest[..<sign]
        }
        let time = numbers(rest, ":", digits: [2...2, 2...2, 2...2]) ?? numbers(rest, ":", digits: [2...2, 2...2])
        guard let time, time[0] < 24, time[1] < 60, time.count < 3 || time[2] < 60 else { return nil }
        let date = CivilDate(year: days[0], month: days[1], day: days[2])
        // 2026-02-31 would be a day in March.
        guard 1...12 ~= date.month, date.day >= 1, CivilDate(dayNumber: date.dayNumber) == date else { return nil }
        let second = (time[0] * 60 + time[1]) * 60 + (time.count > 2 ? time[2] : 0)
        return LocalTime(day: date, second: second).date(in: zone)
    }

    private static func numbers(
        _ text: some StringProtocol, _ separator: Character, digits: [ClosedRange<Int>]
    ) -> [Int]? {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        guard parts.count == digits.count else { return nil }
        var numbers: [Int] = []
        for (part, digits) in zip(parts, digits) {
            guard digits.contains(part.count), part.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int(part)
            else {
                return nil
            }
            numbers.append(number)
        }
        return numbers
    }
}
