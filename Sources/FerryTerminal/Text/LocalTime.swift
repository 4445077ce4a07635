package import Foundation

/// Times for people: in the time zone of the user, to the second.
package enum LocalTime {
    /// Returns `2026-12-24 22:30:05`.
    package static func text(_ date: Date, in zone: TimeZone = .current) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
        func digits(_ number: Int?, _ count: Int = 2) -> String {
            let text = String(number ?? 0)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        return "\(digits(parts.year, 4))-\(digits(parts.month))-\(digits(parts.day)) "
            + "\(digits(parts.hour)):\(digits(parts.minute)):\(digits(parts.second))"
    }
}

/// Durations in JSON output.
package enum Seconds {
    /// Returns the duration in seconds, rounded to milliseconds.
    package static func of(_ duration: Duration) -> Double {
        let parts = duration.components
        let seconds = Double(parts.seconds) + Double(parts.attoseconds) / 1e18
        return (seconds * 1000).rounded() / 1000
    }
}
