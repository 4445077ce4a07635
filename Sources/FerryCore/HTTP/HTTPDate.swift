#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// Dates in header fields (RFC 9110 §5.6.7).
package enum HTTPDate {
    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`.
    ///
    /// Names are case-insensitive, and the weekday need not match the date. Returns `nil` for everything else,
    /// including days that the month does not have. A two-digit year is at most 50 years after `now`, or in 1970…2069
    /// if `now` is `nil`.
    package static func parse(_ text: String, now: Date? = nil) -> Date? {
        if let date = usual(text) { return date }
        guard text.utf8.count <= 64 else { return nil }
        var cursor = Cursor(ASCII.trimmed(Array(text.utf8)[...]))
        guard let weekday = cursor.word(), isWeekday(weekday) else { return nil }
        let parts = cursor.skip(",") ? internet(&cursor) : asctime(&cursor)
        guard let parts, cursor.isAtEnd else { return nil }
        let pivot = now.map { year(of: $0) + 50 } ?? 2069
        return date(parts, year: parts.isShortYear ? fullYear(parts.year, pivot: pivot) : parts.year)
    }

    /// Returns `Sun, 06 Nov 1994 08:49:37 GMT`; fractions of a second are dropped, years are clamped to 1…9999.
    package static func format(_ date: Date) -> String {
        let raw = date.timeIntervalSince1970
        let seconds = raw.isFinite ? Int64(min(max(raw.rounded(.down), -62_135_596_800), 253_402_300_799)) : 0
        let day = Int(floorDivision(seconds, 86_400))
        let second = Int(seconds - Int64(day) * 86_400)
        let date = CivilDate(dayNumber: day)
        // Day 0 was a Thursday.
        let weekday = ((day + 4) % 7 + 7) % 7
        return
            "\(weekdays[weekday].capital), \(padded(date.day, 2)) \(months[date.month - 1].capital) \(padded(date.year, 4)) "
            + "\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2)) GMT"
    }

    private struct Parts {
        var year = 0
        var isShortYear = false
        var month = 0
        var day = 0
        var seconds = 0
    }

    /// A fast path for the first format as servers write it, because each response has two or three dates. Returns
    /// `nil` for everything that needs the full parser.
    private static func usual(_ text: String) -> Date? {
        guard text.utf8.count == 29 else { return nil }
        var text = text
        return text.withUTF8 { bytes in
            func isAt(_ index: Int, _ byte: Unicode.Scalar) -> Bool { UInt32(bytes[index]) == byte.value }
            func letters(_ index: Int) -> UInt32 {
                UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
            }
            func number(_ index: Int) -> Int? {
                let (high, low) = (bytes[index], bytes[index + 1])
                return ASCII.isDigit(high) && ASCII.isDigit(low) ? Int(high - 0x30) * 10 + Int(low - 0x30) : nil
            }
            guard weekdayLetters.contains(letters(0)), isAt(3, ","), isAt(4, " "), let day = number(5), isAt(7, " "),
                let month = monthLetters.firstIndex(of: letters(8)), isAt(11, " "), let century = number(12),
                let year = number(14), isAt(16, " "), let hour = number(17), hour <= 23, isAt(19, ":"),
                let minute = number(20), minute <= 59, isAt(22, ":"), let second = number(23), second <= 60,
                isAt(25, " "), letters(26) == 0x474D54
            else { return nil }
            let parts = Parts(month: month + 1, day: day, seconds: hour * 3600 + minute * 60 + min(second, 59))
            return date(parts, year: century * 100 + year)
        }
    }

    /// Parses ` 06 Nov 1994 08:49:37 GMT`, or the form with dashes and a year of two or four digits.
    private static func internet(_ cursor: inout Cursor) -> Parts? {
        var parts = Parts()
        guard cursor.skip(" "), let day = cursor.number(1...2) else { return nil }
        let separator: Unicode.Scalar = cursor.next == UInt8(ascii: "-") ? "-" : " "
        guard cursor.skip(separator), let month = cursor.word().flatMap(monthNumber), cursor.skip(separator),
            let year = cursor.number(2...4), year.digits != 3, cursor.skip(" "),
            let seconds = time(&cursor), cursor.skip(" "), let zone = cursor.word(), zone == "gmt" || zone == "utc"
        else { return nil }
        parts.day = day.value
        parts.month = month
        parts.year = year.value
        parts.isShortYear = year.digits == 2
        parts.seconds = seconds
        return parts
    }

    /// Parses ` Nov  6 08:49:37 1994`.
    private static func asctime(_ cursor: inout Cursor) -> Parts? {
        var parts = Parts()
        guard cursor.skip(" "), let month = cursor.word().flatMap(monthNumber), cursor.skip(" ") else { return nil }
        _ = cursor.skip(" ")
        guard let day = cursor.number(1...2), cursor.skip(" "), let seconds = time(&cursor), cursor.skip(" "),
            let year = cursor.number(4...4)
        else { return nil }
        parts.day = day.value
        parts.month = month
        parts.year = year.value
        parts.seconds = seconds
        return parts
    }

    /// Parses `08:49:37`; a leap second counts as the preceding second.
    private static func time(_ cursor: inout Cursor) -> Int? {
        guard let hour = cursor.number(2...2), hour.value <= 23, cursor.skip(":"),
            let minute = cursor.number(2...2), minute.value <= 59, cursor.skip(":"),
            let second = cursor.number(2...2), second.value <= 60
        else { return nil }
        return hour.value * 3600 + minute.value * 60 + min(second.value, 59)
    }

    private static func date(_ parts: Parts, year: Int) -> Date? {
        guard year >= 1, parts.day >= 1, parts.day <= daysInMonth(parts.month, year: year) else { return nil }
        let day = CivilDate(year: year, month: parts.month, day: parts.day).dayNumber
        let seconds = day * 86_400 + parts.seconds
        return Date(timeIntervalSince1970: Double(seconds))
    }
}

// MARK: Calendar

extension HTTPDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    private static let weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
    private static let longWeekdays = [
        "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    ]

    /// `Jan`… and `Sun`… as three bytes.
    private static let monthLetters = months.map(letters)
    private static let weekdayLetters = weekdays.map(letters)

    private static func letters(_ word: String) -> UInt32 { word.capital.utf8.reduce(0) { $0 << 8 | UInt32($1) } }

    private static func isWeekday(_ word: String) -> Bool { weekdays.contains(word) || longWeekdays.contains(word) }

    private static func monthNumber(_ word: String) -> Int? { months.firstIndex(of: word).map { $0 + 1 } }

    private static func daysInMonth(_ month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The latest year with these two digits that is not after the pivot.
    private static func fullYear(_ short: Int, pivot: Int) -> Int {
        let candidate = pivot - pivot % 100 + short
        return candidate > pivot ? candidate - 100 : candidate
    }

    private static func year(of date: Date) -> Int {
        let raw = date.timeIntervalSince1970
        guard raw.isFinite, abs(raw) < 200_000_000_000 else { return 2019 }
        return CivilDate(dayNumber: Int(floorDivision(Int64(raw), 86_400))).year
    }

    private static func floorDivision(_ value: Int64, _ divisor: Int64) -> Int64 {
        value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor)
    }

    private static func padded(_ value: Int, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

extension String {
    /// The ASCII text with its first letter in upper case.
    fileprivate var capital: String { prefix(1).uppercased() + dropFirst() }
}

/// A position in a short ASCII text.
private struct Cursor {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }
    var next: UInt8? { rest.first }

    /// Skips this character if it is next.
    mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
        guard let byte = rest.first, UInt32(byte) == scalar.value else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Parses letters, returned in lower case; `nil` when there are none.
    mutating func word() -> String? {
        let letters = rest.prefix(while: ASCII.isLetter)
        rest = rest[letters.endIndex...]
        return letters.isEmpty ? nil : String(decoding: letters.map(ASCII.lowercased), as: UTF8.self)
    }

    /// Parses a number of `count` digits; `nil` when there are fewer or more.
    mutating func number(_ count: ClosedRange<Int>) -> (value: Int, digits: Int)? {
        let digits = rest.prefix(while: ASCII.isDigit)
        guard count.contains(digits.count), let value = ASCII.number(digits) else { return nil }
        rest = rest[digits.endIndex...]
        return (Int(value), digits.count)
    }
}
