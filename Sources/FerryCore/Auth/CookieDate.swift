import struct Foundation.Date

/// The lenient date parser for `Expires` (RFC 6265 §5.1.1).
enum CookieDate {
    /// Returns `nil` when day, month, year or time is missing or out of range.
    static func parse(_ text: String) -> Date? {
        var time: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in text.utf8.prefix(256).split(whereSeparator: isDelimiter) {
            let bytes = Array(token)
            if time == nil, let found = clock(bytes) {
                time = found
            } else if day == nil, let found = number(bytes, digits: 1...2) {
                day = found
            } else if month == nil, let found = monthNumber(bytes) {
                month = found
            } else if year == nil, let found = number(bytes, digits: 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year else { return nil }
        if (70...99).contains(year) { year += 1900 } else if (0...69).contains(year) { year += 2000 }
        guard year >= 1601, (1...31).contains(day), time.hour <= 23, time.minute <= 59, time.second <= 59 else {
            return nil
        }
        guard day <= length(ofMonth: month, year: year) else { return nil }
        let days = daysSince1970(year: year, month: month, day: day)
        return Date(timeIntervalSince1970: Double(days * 86_400 + time.hour * 3600 + time.minute * 60 + time.second))
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// Parses a number of `digits` digits at the start, not followed by another digit.
    private static func number(_ bytes: [UInt8], digits: ClosedRange<Int>) -> Int? {
        let head = bytes.prefix { ASCII.isDigit($0) }
        guard digits.contains(head.count) else { return nil }
        return head.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func clock(_ bytes: [UInt8]) -> (hour: Int, minute: Int, second: Int)? {
        let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[0].allSatisfy(ASCII.isDigit), parts[1].allSatisfy(ASCII.isDigit),
            let hour = number(Array(parts[0]), digits: 1...2), let minute = number(Array(parts[1]), digits: 1...2),
            let second = number(Array(parts[2]), digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    private static func monthNumber(_ bytes: [UInt8]) -> Int? {
        let start = String(decoding: bytes.prefix(3), as: UTF8.self).asciiLowercased
        return months.firstIndex(of: start).map { $0 + 1 }
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    private static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        default: 31
        }
    }

    /// Returns the days from 1970-01-01 in the Gregorian calendar, for years from 1601 on.
    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        // The year begins in March, so that the leap day is its last.
        let shifted = month > 2 ? year : year - 1
        let monthFromMarch = (month + 9) % 12
        let leapDays = shifted / 4 - shifted / 100 + shifted / 400
        return shifted * 365 + leapDays + (monthFromMarch * 153 + 2) / 5 + day - 1 - 719_468
    }
}
