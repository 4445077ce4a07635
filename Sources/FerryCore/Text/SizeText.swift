/// The parser for sizes and rates in options and settings.
package enum SizeText {
    /// Parses `100`, `5M`, `256MB`, `1.5G`, `1GiB`, case-insensitive. `K M G T`, with or without `B`, are powers of
    /// 1000; `Ki Mi Gi Ti` are powers of 1024. A fraction needs one of these units, and the result is
    /// rounded down to whole bytes.
    package static func parse(_ text: String) throws(TextError) -> ByteCount {
        try parse(text, what: "size", example: "100", suffix: text)
    }

    /// Parses the forms of ``parse(_:)`` with an optional `/s`, as bytes per second.
    package static func parseRate(_ text: String) throws(TextError) -> ByteCount {
        let trimmed = text.trimmedText
        let hasPerSecond = trimmed.asciiLowercased.utf8.hasSuffix("/s")
        // Commands refuse a rate without a unit.
        return try parse(
            text, what: "rate", example: "100B", suffix: hasPerSecond ? String(trimmed.dropLast(2)) : trimmed)
    }

    private static func parse(
        _ text: String, what: Reason, example: String, suffix number: String
    ) throws(TextError) -> ByteCount {
        let shown = TextError.quote(text.trimmedText)
        let digits = number.trimmedText.utf8.prefix { ASCII.isDigit($0) }.count
        guard let decimal = DecimalText(number) else {
            throw TextError(
                digits > 0 && number.trimmedText.utf8.dropFirst(digits).first != UInt8(ascii: ".")
                    ? "the \(what) \(shown) is too large"
                    : "\(shown) is not a \(what): write it like \(example), 5M, 1.5GB or 1GiB")
        }
        guard let unit = unit(decimal.suffix) else {
            throw TextError(
                "\(shown) is not a \(what): the unit is one of K, M, G, T, KB, MB, GB, TB, KiB, MiB, GiB, TiB, B")
        }
        guard !(decimal.hasFraction && unit == 1) else {
            throw TextError("\(shown) is not a \(what): there are no fractions of a byte")
        }
        guard let count = decimal.scaled(by: unit), count.isSize else {
            throw TextError("the \(what) \(shown) is too large")
        }
        return count
    }

    private static func unit(_ suffix: String) -> UInt64? {
        switch suffix {
        case "", "b": 1
        case "k", "kb": 1000
        case "m", "mb": 1_000_000
        case "g", "gb": 1_000_000_000
        case "t", "tb": 1_000_000_000_000
        case "ki", "kib": 1 << 10
        case "mi", "mib": 1 << 20
        case "gi", "gib": 1 << 30
        case "ti", "tib": 1 << 40
        default: nil
        }
    }
}

/// The parser for durations in options and settings.
package enum DurationText {
    /// Parses `15`, `0.5`, `15s`, `500ms`, `2m`, `1.5h`, `1d`; the default unit is seconds. At most 100 years.
    package static func parse(_ text: String) throws(TextError) -> Duration {
        let shown = TextError.quote(text.trimmedText)
        guard let decimal = DecimalText(text), let nanoseconds = unit(decimal.suffix) else {
            throw TextError("\(shown) is not a duration: write it like 15, 0.5, 15s, 2m, 1h or 7d")
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
