import FerryCore
package import Foundation

/// Parses times on the command line. Pure: the current time and the calendar are arguments.
package enum TimeWord {
    /// Parses `22:30` (today, or tomorrow if that has passed), `2026-12-24 22:30`, `2026-12-24T22:30:00Z` or with an
    /// offset such as `+01:00`, and `+2h`, which is relative to now.
    package static func parse(_ text: String, now: Date, calendar: Calendar) throws(UsageError) -> Date {
        if text.utf8.hasPrefix("+") {
            do throws(TextError) {
                return now.addingTimeInterval(Seconds.of(try DurationText.parse(String(text.dropFirst()))))
            } catch { throw UsageError(error.message) }
        }
        if let date = clock(text, now: now, calendar: calendar) ?? day(text, calendar: calendar) { return date }
        throw UsageError("\(text) is no time: write it like 22:30, 2026-12-24 22:30, 2026-12-24T22:30:00Z or +2h")
    }

    private static func clock(_ text: String, now: Date, calendar: Calendar) -> Date? {
        guard let parts = numbers(text, ":", digits: [1...2, 2...2]), parts[0] < 24, parts[1] < 60 else { return nil }
        let wanted = DateComponents(hour: parts[0], minute: parts[1], second: 0)
        return calendar.nextDate(after: now, matching: wanted, matchingPolicy: .nextTime)
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
