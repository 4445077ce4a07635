/// The formatter for sizes, speeds, percentages and times in all of Ferry's interfaces.
///
/// Decimal units, one fraction digit from KB up, always with a decimal point regardless of the locale. Never traps.
public enum ByteText {
    /// `0 B`, `999 B`, `1.0 KB`, `4.4 MB`; rounded to the nearest tenth, never `1000.0`. Negative values count as 0.
    public static func size(_ count: ByteCount) -> String {
        let count = UInt64(max(0, count))
        guard count >= 1000 else { return "\(count) B" }
        var unit: UInt64 = 1000
        for name in units {
            let tenths = (count + unit / 20) / (unit / 10)
            if tenths < 10_000 || name == units.last { return "\(tenths / 10).\(tenths % 10) \(name)" }
            unit *= 1000
        }
        return "\(count) B"
    }

    /// `4.4 MB/s`. Negative and non-finite values are `0 B/s`.
    public static func rate(_ bytesPerSecond: Double) -> String {
        guard bytesPerSecond.isFinite, bytesPerSecond > 0 else { return "0 B/s" }
        return size(bytesPerSecond < 9e18 ? ByteCount(bytesPerSecond.rounded()) : .max) + "/s"
    }

    /// `12.3 MB / 1.0 GB`, or `12.3 MB / ?` while the total is unknown.
    public static func progress(completed: ByteCount, total: ByteCount?) -> String {
        "\(size(completed)) / \(total.map(size) ?? "?")"
    }

    /// `12.3%`; `100.0%` only when complete, `--` while unknown.
    ///
    /// - Parameter fraction: 0 to 1; clamped.
    public static func percent(_ fraction: Double?, isComplete: Bool) -> String {
        if isComplete { return "100.0%" }
        guard let fraction, fraction.isFinite else { return unknown }
        let tenths = Int((min(1, max(0, fraction)) * 1000).rounded())
        let shown = min(tenths, 999)
        return "\(shown / 10).\(shown % 10)%"
    }

    /// `5s`, `1m 05s`, `2h 03m`, `3d 4h`; `--` for an unknown time and for a thousand days or more.
    ///
    /// Rounded to the nearest second; from one hour up, truncated to whole minutes or hours. Negative values count as
    /// 0.
    public static func duration(_ duration: Duration?) -> String {
        guard let duration else { return unknown }
        let parts = duration.components
        guard parts.seconds < 86_400_000 else { return unknown }
        let seconds = max(0, parts.seconds + (parts.attoseconds >= 500_000_000_000_000_000 ? 1 : 0))
        switch seconds {
        case ..<60: return "\(seconds)s"
        case ..<3600: return "\(seconds / 60)m \(twoDigits(seconds % 60))s"
        case ..<86_400: return "\(seconds / 3600)h \(twoDigits(seconds % 3600 / 60))m"
        case ..<86_400_000: return "\(seconds / 86_400)d \(seconds % 86_400 / 3600)h"
        default: return unknown
        }
    }

    /// `0.4s`, `5s`: like ``duration(_:)``, but in tenths below a second, and at least `0.1s`. For waiting times and
    /// measured times, which are never zero.
    public static func briefly(_ duration: Duration) -> String {
        guard duration < .milliseconds(950) else { return self.duration(duration) }
        let tenths = (max(.zero, duration) + .milliseconds(50)).components.attoseconds / 100_000_000_000_000_000
        return "0.\(max(1, tenths))s"
    }

    /// The placeholder for an unknown value.
    package static let unknown = "--"

    private static let units = ["KB", "MB", "GB", "TB", "PB", "EB"]

    private static func twoDigits(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
