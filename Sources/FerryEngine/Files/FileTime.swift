/// A point in time at the resolution of file systems: seconds since 1970 and nanoseconds.
package struct FileTime: Sendable, Hashable, Codable, Comparable {
    package let seconds: Int64
    /// 0 ..< 1,000,000,000.
    package let nanoseconds: Int32

    package init(seconds: Int64, nanoseconds: Int32 = 0) {
        self.seconds = seconds
        self.nanoseconds = min(max(nanoseconds, 0), 999_999_999)
    }

    /// Converts seconds since 1970, rounded down to the microsecond; `nil` if not finite or beyond ±2^40 seconds.
    package init?(secondsSince1970 value: Double) {
        guard value.isFinite, abs(value) < 1_099_511_627_776 else { return nil }
        let whole = value.rounded(.down)
        self.init(seconds: Int64(whole), nanoseconds: Int32((value - whole) * 1_000_000) * 1000)
    }

    /// Seconds and nanoseconds, the journal's representation.
    package var pair: [Int64] { [seconds, Int64(nanoseconds)] }

    package var secondsSince1970: Double { Double(seconds) + Double(nanoseconds) / 1_000_000_000 }

    package static func < (lhs: FileTime, rhs: FileTime) -> Bool {
        (lhs.seconds, lhs.nanoseconds) < (rhs.seconds, rhs.nanoseconds)
    }
}
