/// A token bucket with time as an argument. Small slices keep a limited body smooth.
package struct RateLimiter: Sendable {
    package let bytesPerSecond: Int64
    /// The minimum size of a write: the bytes of 10 ms, at most 64 KiB.
    package let slice: Int
    private let capacity: Double
    private var available: Double
    private var refilled: UInt64

    /// Creates a bucket with one slice at `now`, in nanoseconds of any monotonic clock.
    package init(bytesPerSecond: Int64, now: UInt64) {
        self.bytesPerSecond = max(1, bytesPerSecond)
        slice = Int(max(1, min(65_536, self.bytesPerSecond / 100)))
        capacity = max(Double(slice), Double(self.bytesPerSecond) / 10)
        available = Double(slice)
        refilled = now
    }

    /// Returns how many of the wanted bytes may be sent now; 0 means not before `delay`.
    package mutating func take(_ wanted: Int, now: UInt64) -> Int {
        refill(now)
        guard wanted > 0, available >= Double(min(wanted, slice)) else { return 0 }
        let granted = min(wanted, Int(available))
        available -= Double(granted)
        return granted
    }

    /// Takes back bytes that were granted but not used.
    package mutating func giveBack(_ count: Int) { available = min(capacity, available + Double(count)) }

    /// Returns the nanoseconds until `wanted` bytes, or a slice of them, may be sent.
    package func delay(_ wanted: Int) -> Int64 {
        let missing = Double(min(wanted, slice)) - available
        return missing <= 0 ? 0 : Int64((missing / Double(bytesPerSecond) * 1e9).rounded(.up))
    }

    private mutating func refill(_ now: UInt64) {
        guard now > refilled else { return }
        available = min(capacity, available + Double(now - refilled) / 1e9 * Double(bytesPerSecond))
        refilled = now
    }
}
