package import struct Foundation.Date

/// Points and spans of time as JSON lines hold them.
package enum Timestamp {
    /// RFC 3339 in UTC with milliseconds: `2025-01-31T09:05:00.250Z`. Years outside 1970…9999 are moved inside.
    package static func text(_ date: Date) -> String {
        let seconds = date.timeIntervalSince1970
        let limit = 253_402_300_799.999
        let milliseconds = Int64((min(limit, max(0, seconds.isFinite ? seconds : 0)) * 1000).rounded(.down))
        let (year, month, day) = civil(days: milliseconds / 86_400_000)
        let rest = milliseconds % 86_400_000
        let clock = [rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60].map { padded($0, 2) }.joined(
            separator: ":")
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(clock).\(padded(rest % 1000, 3))Z"
    }

    /// A duration in seconds, to the millisecond.
    package static func seconds(_ duration: Duration) -> Double {
        let parts = duration.components
        let seconds = Double(parts.seconds) + Double(parts.attoseconds) / 1e18
        return (seconds * 1000).rounded() / 1000
    }

    /// Days since 1970-01-01 to a date of the Gregorian calendar; days are not negative.
    private static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        // Counted in eras of 400 years that begin on 1 March: the leap day is the last of its year.
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}
