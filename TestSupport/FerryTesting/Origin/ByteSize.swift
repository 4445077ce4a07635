/// Sizes and rates in URLs and on the command line.
public enum ByteSize {
    /// Parses `100`, `10K`, `5M`, `1G`, `2T` (powers of 1000, with or without `B`), `1KiB`, `1MiB`… (powers of 1024);
    /// nil for other text.
    public static func parse(_ text: String) -> Int64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = text.dropFirst(digits.count).lowercased()
        guard let number = Int64(digits) else { return nil }
        let factors: [String: Int64] = [
            "": 1, "b": 1, "k": 1_000, "kb": 1_000, "m": 1_000_000, "mb": 1_000_000, "g": 1_000_000_000,
            "gb": 1_000_000_000, "t": 1_000_000_000_000, "tb": 1_000_000_000_000, "kib": 1 << 10, "mib": 1 << 20,
            "gib": 1 << 30, "tib": 1 << 40,
        ]
        guard let factor = factors[unit] else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        return overflow ? nil : product
    }
}
