package import FerryCore

/// Boundary values from hostile peers, files and settings, which overflow unchecked additions, conversions and
/// comparisons.
package enum ExtremeNumbers {
    package static let all: [ByteCount] = [
        0, 1, -1, 1 << 31, (1 << 31) - 1, 1 << 32, 1 << 53, (1 << 53) + 1, .bound - 1, .bound, .bound + 1, .max - 1,
        .max,
        .min, .min + 1,
    ]

    /// All pairs of these values.
    package static let pairs: [(ByteCount, ByteCount)] = all.flatMap { one in all.map { (one, $0) } }

    /// JSON numbers that no integer can represent, or that overflow or underflow.
    package static let texts = [
        "9223372036854775808", "-9223372036854775809", "1e19", "1e308", "1e400", "-0", "0.5", "1e-400",
    ]
}
