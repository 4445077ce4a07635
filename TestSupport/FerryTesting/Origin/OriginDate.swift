public import Foundation

/// HTTP dates in the preferred format (RFC 9110 §5.6.7), independent of the engine's parser.
public enum OriginDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns `Sun, 06 Nov 1994 08:49:37 GMT`, rounded down to whole seconds.
    public static func format(_ date: Date) -> String {
        let seconds = Int64(date.timeIntervalSince1970.rounded(.down))
        let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let rest = seconds - day * 86_400
        // Civil date from days, with March-based years in 400-year eras.
        let z = day + 719_468
        let era = (z >= 0 ? z : z - 146_096) / 146_097
        let dayOfEra = z - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * shifted + 2) / 5 + 1
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let weekday = Int(((day + 4) % 7 + 7) % 7)
        let time = [rest / 3600, rest / 60 % 60, rest % 60].map { two($0) }.joined(separator: ":")
        return "\(days[weekday]), \(two(dayOfMonth)) \(months[Int(month) - 1]) \(four(year)) \(time) GMT"
    }

    /// Parses the result of `format`; nil for any other text.
    public static func parse(_ text: String) -> Date? {
        let words = text.split { $0 == " " || $0 == ":" }
        guard words.count == 8, words[0].hasSuffix(","), words[7] == "GMT",
            let day = Int64(words[1]), let month = months.firstIndex(of: String(words[2])), let year = Int64(words[3]),
            let hour = Int64(words[4]), let minute = Int64(words[5]), let second = Int64(words[6]),
            (1...9999).contains(year), (1...31).contains(day), (0...23).contains(hour), (0...59).contains(minute),
            (0...60).contains(second)
        else { return nil }
        let m = Int64(month) + 1
        let y = m <= 2 ? year - 1 : year
        let yearOfEra = y % 400
        let dayOfYear = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = y / 400 * 146_097 + dayOfEra - 719_468
        return Date(timeIntervalSince1970: Double(days * 86_400 + hour * 3600 + minute * 60 + second))
    }

    private static func two(_ n: Int64) -> String { n < 10 ? "0\(n)" : "\(n)" }
    private static func four(_ n: Int64) -> String { String(repeating: "0", count: max(0, 4 - "\(n)".count)) + "\(n)" }
}
