import FerryCore
package import Foundation

/// Parses times on the command line. Pure: the current time and the calendar are arguments.
package enum TimeWord {
    /// Parses `22:30` or `10pm` (today, or tomorrow if that has passed), `tomorrow 8:00`, `2026-12-24 22:30`,
    /// `2026-12-24T22:30:00Z` or with an offset such as `+01:00`, and `+2h`, which is relative to now. Throws for a time
    /// in the past.
    package static func parse(_ text: String, now: Date, calendar: Calendar) throws(UsageError) -> Date {
        if text.utf8.hasPrefix("+") {
            do throws(TextError) {
                return now.addingTimeInterval(Seconds.of(try DurationText.parse(String(text.dropFirst()))))
            } catch { throw UsageError(error.reason) }
        }
        if let wanted = clock(text[...]) {
            // A day without that hour has the next one.
            if let date = calendar.nextDate(after: now, matching: wanted, matchingPolicy: .nextTime) { return date }
        }
        if let rest = text.dropping(prefix: "tomorrow "), let wanted = clock(rest),
            let tomorrow = calendar.date(byAdding: .day, value: 1, to: calendar.startOfDay(for: now)),
            let date = calendar.nextDate(
                after: tomorrow.addingTimeInterval(-1), matching: wanted, matchingPolicy: .nextTime)
        {
            return date
        }
        guard let date = day(text, calendar: calendar) else {
            throw UsageError(
                "\(text) is no time: write it like 22:30, 10pm, tomorrow 8:00, 2026-12-24 22:30, 2026-12-24T22:30:00Z or +2h"
            )
        }
        guard date > now else { throw UsageError("\(text) has passed") }
        return date
    }

    /// Parses `22:30`, `10pm` and `10:30 pm`.
    private static func clock(_ text: Substring) -> DateComponents? {
        var text = text.trimmingCharacters(in: .whitespaces).lowercased()
        var half: Int?
        for (suffix, hours) in [("am", 0), ("pm", 12)] {
            guard let rest = text.dropping(suffix: suffix) else { continue }
            (text, half) = (rest.trimmingCharacters(in: .whitespaces), hours)
        }
        // `10pm` has no minutes, `10` alone is no time.
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
        return hour < 24 ? DateComponents(hour: hour, minute: parts[1], second: 0) : nil
    }

    private static func day(_ text: String, calendar: Calendar) -> Date? {
        guard let gap = text.firstIndex(where: { $0 == "T" || $0 == " " }) else { return nil }
        guard let days = numbers(text[..<gap], "-", digits: [4...4, 2...2, 2...2]) else { return nil }
        var rest = text[text.index(after: gap)...]
        var calendar = calendar
        if rest.utf8.hasSuffix("Z") {
            calendar.timeZone = .gmt
            rest.removeLast()
        } else if let sign = rest.firstIndex(where: { $0 == "+" || $0 == "-" }) {
            guard let offset = numbers(rest[rest.index(after: sign)...], ":", digits: [2...2, 2...2]), offset[0] < 24,
                offset[1] < 60
            else { return nil }
            let seconds = (offset[0] * 60 + offset[1]) * 60
            guard let zone = TimeZone(secondsFromGMT: rest[sign] == "-" ? -seconds : seconds) else { return nil }
            calendar.timeZone = zone
            rest = rest[..<sign]
        }
        let time = numbers(rest, ":", digits: [2...2, 2...2, 2...2]) ?? numbers(rest, ":", digits: [2...2, 2...2])
        guard let time, time[0] < 24, time[1] < 60 else { return nil }
        let wanted = DateComponents(
            year: days[0], month: days[1], day: days[2], hour: time[0], minute: time[1],
            second: time.count > 2 ? time[2] : 0)
        guard let date = calendar.date(from: wanted) else { return nil }
        // `Calendar` would accept 2026-02-31 as a day in March.
        let found = calendar.dateComponents([.year, .month, .day], from: date)
        return found.year == days[0] && found.month == days[1] && found.day == days[2] ? date : nil
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
