/// The parser for durations in options and settings.
package enum DurationText {
    /// Parses `15`, `0.5`, `15s`, `500ms`, `2m`, `1.5h`, `1d`; the default unit is seconds. At most 100 years.
    package static func parse(_ text: String) throws(TextError) -> Duration {
        let shown = TextError.quote(text.trimmedText)
        guard let decimal = DecimalText(text), let nanoseconds = unit(decimal.suffix) else {
            throw TextError("\(shown) is not a duration: write it like 15, 0.5, 15s, 2m or 1h")
        }
        guard let total = decimal.scaled(by: nanoseconds), total <= longest else {
            throw TextError("the duration \(shown) is too long")
        }
        return .nanoseconds(total)
    }

    /// 100 years in nanoseconds, far below the overflow of sums of durations.
    private static let longest: Int64 = 36_500 * 86_400 * 1_000_000_000

    /// Returns the unit in nanoseconds.
    private static func unit(_ suffix: String) -> UInt64? {
        switch suffix {
        case "ms": 1_000_000
        case "", "s", "sec": 1_000_000_000
        case "m", "min": 60 * 1_000_000_000
        case "h": 3600 * 1_000_000_000
        case "d": 86_400 * 1_000_000_000
        default: nil
        }
    }
}
