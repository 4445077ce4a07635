/// A number of bytes: a size, an offset or a length. Values from outside are checked with `isSize`, so they are never
/// negative.
public typealias ByteCount = Int64

extension ByteCount {
    /// The exclusive upper bound, 2^62, of sizes, offsets and rates read from outside (response heads, journals, resume
    /// data, requests, lists, settings). The sum of any two such values cannot overflow.
    package static let bound: ByteCount = 1 << 62

    /// Whether the value is a valid size, offset or rate: 0 or more, below ``bound``.
    package var isSize: Bool { self >= 0 && self < Self.bound }

    /// Returns the sum, clamped to `Int64`'s range on overflow.
    package func adding(_ other: ByteCount) -> ByteCount {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }
}

extension Sequence<ByteCount> {
    /// The sum of all elements, clamped as in ``Swift/Int64/adding(_:)``.
    package var sum: ByteCount { reduce(0) { $0.adding($1) } }
}
