package import FerryCore

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A time zone, by its offsets from UTC.
package struct LocalZone: Sendable {
    /// The offset at a moment, in seconds east of UTC.
    package let offset: @Sendable (Date) -> Int

    package init(_ offset: @escaping @Sendable (Date) -> Int) { self.offset = offset }

    /// The zone of the user, from the C library.
    package static let current = LocalZone { date in
        var seconds = time_t(date.wholeSeconds)
        var parts = tm()
        return localtime_r(&seconds, &parts) == nil ? 0 : Int(parts.tm_gmtoff)
    }

    /// A zone with one offset, in seconds east of UTC.
    package static func fixed(_ offset: Int) -> LocalZone { LocalZone { _ in offset } }
}

/// A date and time of day on the clock of a time zone, to the second.
package struct LocalTime: Sendable, Hashable {
    package var day: CivilDate
    /// 0 ..< 86,400.
    package var second: Int

    package init(day: CivilDate, second: Int) { (self.day, self.second) = (day, second) }

    /// Creates the local time at a moment.
    package init(_ date: Date, in zone: LocalZone) {
        let seconds = date.wholeSeconds + zone.offset(date)
        second = (seconds % 86_400 + 86_400) % 86_400
        day = CivilDate(dayNumber: (seconds - second) / 86_400)
    }

    /// Returns the first moment at which the clock shows this time. A time that the clock skips, in spring, is moved
    /// forward by the length of the gap: 2:30 becomes 3:30.
    package func date(in zone: LocalZone) -> Date {
        let seconds = Double(day.dayNumber * 86_400 + second)
        /// Returns the moment, assuming the offset of a day earlier or later.
        func moment(_ days: Double) -> Date {
            let near = Date(timeIntervalSince1970: seconds + days * 86_400)
            return Date(timeIntervalSince1970: seconds - Double(zone.offset(near)))
        }
        let (early, late) = (moment(-1), moment(1))
        if LocalTime(early, in: zone) == self { return early }
        return LocalTime(late, in: zone) == self ? late : early
    }

    /// The same time on another day.
    package func adding(days: Int) -> LocalTime {
        LocalTime(day: CivilDate(dayNumber: day.dayNumber + days), second: second)
    }

    /// `2026-12-24 22:30:05`.
    package var text: String {
        "\(Self.digits(day.year, 4))-\(Self.digits(day.month))-\(Self.digits(day.day)) \(clock)"
    }

    /// `22:30:05`.
    package var clock: String {
        "\(Self.digits(second / 3600)):\(Self.digits(second / 60 % 60)):\(Self.digits(second % 60))"
    }

    private static func digits(_ number: Int, _ count: Int = 2) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }

    /// Returns the time for display: in the user's time zone, to the second, as `2026-12-24 22:30:05`.
    package static func text(_ date: Date) -> String { LocalTime(date, in: .current).text }
}

extension Date {
    /// Seconds since 1970, rounded down, within the years 1 to 9999.
    fileprivate var wholeSeconds: Int {
        let seconds = timeIntervalSince1970
        return seconds.isNaN ? 0 : Int(min(max(seconds.rounded(.down), -62_000_000_000), 253_000_000_000))
    }
}

/// Converts durations to seconds.
package enum Seconds {
    /// Returns the duration in seconds, rounded to milliseconds.
    package static func of(_ duration: Duration) -> Double {
        let parts = duration.components
        let seconds = Double(parts.seconds) + Double(parts.attoseconds) / 1e18
        return (seconds * 1000).rounded() / 1000
    }
}
