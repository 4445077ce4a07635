#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// Timestamps of RFC 3339, written in UTC with milliseconds: `2025-01-31T09:05:00.250Z`.
package enum RFC3339 {
    /// Returns the text of a date; years are clamped to 1970…9999.
    package static func text(_ date: Date) -> String {
        let seconds = date.timeIntervalSince1970
        let limit = 253_402_300_799.999
        let milliseconds = Int64((min(limit, max(0, seconds.isFinite ? seconds : 0)) * 1000).rounded())
        let day = CivilDate(dayNumber: Int(milliseconds / 86_400_000))
        let rest = milliseconds % 86_400_000
        var text: [UInt8] = []
        text.reserveCapacity(24)
        func write(_ number: Int64, _ digits: Int, _ after: Character) {
            var divisor: Int64 = 1
            for _ in 1..<digits { divisor *= 10 }
            while divisor > 0 {
                text.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
                divisor /= 10
            }
            text.append(after.asciiValue ?? 0)
        }
        write(Int64(day.year), 4, "-")
        write(Int64(day.month), 2, "-")
        write(Int64(day.day), 2, "T")
        write(rest / 3_600_000, 2, ":")
        write(rest / 60_000 % 60, 2, ":")
        write(rest / 1000 % 60, 2, ".")
        write(rest % 1000, 3, "Z")
        return String(decoding: text, as: UTF8.self)
    }

    /// Parses `2025-01-31T09:05:00Z`, with or without a fraction, in UTC or with an offset.
    package static func date(_ text: String) -> Date? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.count <= 40 else { return nil }
        func number(_ start: Int, _ count: Int) -> Int64? {
            var value: Int64 = 0
            for byte in bytes[start..<start + count] {
                guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
                value = value * 10 + Int64(byte - UInt8(ascii: "0"))
            }
            return value
        }
        func isThere(_ character: Character, at index: Int) -> Bool { bytes[index] == character.asciiValue }
        guard let year = number(0, 4), isThere("-", at: 4), let month = number(5, 2), isThere("-", at: 7),
            let day = number(8, 2), isThere("T", at: 10) || isThere("t", at: 10), let hour = number(11, 2),
            isThere(":", at: 13), let minute = number(14, 2), isThere(":", at: 16), let second = number(17, 2),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        var index = 19
        var fraction = 0.0
        if isThere(".", at: index) {
            var scale = 0.1
            index += 1
            let start = index
            while index < bytes.count, let digit = number(index, 1) {
                fraction += Double(digit) * scale
                scale /= 10
                index += 1
            }
            guard index > start else { return nil }
        }
        var offset: Int64 = 0
        guard index < bytes.count else { return nil }
        if isThere("Z", at: index) || isThere("z", at: index) {
            guard index == bytes.count - 1 else { return nil }
        } else {
            guard isThere("+", at: index) || isThere("-", at: index), bytes.count == index + 6,
                let hours = number(index + 1, 2), isThere(":", at: index + 3), let minutes = number(index + 4, 2),
                hours < 24, minutes < 60
            else { return nil }
            offset = (hours * 60 + minutes) * 60 * (isThere("+", at: index) ? 1 : -1)
        }
        let date = CivilDate(year: Int(year), month: Int(month), day: Int(day))
        // If the month has no such day, the day number belongs to a different date.
        guard CivilDate(dayNumber: date.dayNumber) == date else { return nil }
        let seconds = Int64(date.dayNumber) * 86_400 + hour * 3600 + minute * 60 + second - offset
        // A leap second precedes the first day of a month in UTC (§5.7).
        if second == 60, seconds % 86_400 != 0 || CivilDate(dayNumber: Int(seconds / 86_400)).day != 1 { return nil }
        return Date(timeIntervalSince1970: Double(seconds) + fraction)
    }
}

/// A day of the Gregorian calendar.
///
/// Computed with years that start in March, so that the leap day is last, in eras of 400 years.
package struct CivilDate: Sendable, Hashable {
    package var year: Int
    /// 1...12.
    package var month: Int
    /// 1...31.
    package var day: Int

    package init(year: Int, month: Int, day: Int) {
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Creates the day that is `dayNumber` days after 1970-01-01, for the years 1...9999.
    package init(dayNumber: Int) {
        let shifted = dayNumber + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    }

    /// Days since 1970-01-01.
    package var dayNumber: Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
