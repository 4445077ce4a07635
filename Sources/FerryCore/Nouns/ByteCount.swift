/// A number of bytes, never negative; sizes, offsets and lengths are all counted in it.
public typealias ByteCount = Int64

extension ByteCount {
    /// Sizes, offsets and rates from outside (heads, journals, resume data, requests, lists, settings) are below 2^62, or
    /// refused where they enter: so the sum of any two of them is a number.
    package static let bound: ByteCount = 1 << 62

    /// Whether this can be a size, an offset or a rate from outside: 0 or more, below ``bound``.
    package var isSize: Bool { self >= 0 && self < Self.bound }

    /// The sum; the nearest number where it is none: for sums of any length, of any numbers.
    package func adding(_ other: ByteCount) -> ByteCount {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }
}

extension Sequence<ByteCount> {
    /// The sum of all, as ``Swift/Int64/adding(_:)`` adds.
    package var sum: ByteCount { reduce(0) { $0.adding($1) } }
}
