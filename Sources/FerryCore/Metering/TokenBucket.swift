/// A rate limiter that returns a delay after bytes were taken. The time is passed as an argument.
///
/// Invariant: in any interval of t seconds, at most rate · (t + burst) bytes pass, plus the last piece taken. Bytes are
/// paid for after they have arrived, so a caller waits for the returned delay before it takes more. Pieces should not
/// be larger than ``preferredPiece``, to keep the last piece small.
package struct TokenBucket: Sendable, Hashable {
    /// The rate in bytes per second; `nil` for no limit.
    package private(set) var bytesPerSecond: ByteCount?
    /// The maximum unused time that may be made up for, in seconds.
    private let burst: Double
    /// The time in seconds at which all taken bytes are paid for; `nil` before the first.
    private var paidUntil: Double?

    /// The maximum delay returned, for any amount.
    package static let longestDelay: Duration = .seconds(3600)

    /// Creates a full bucket.
    ///
    /// - Parameters:
    ///   - bytesPerSecond: The rate; `nil`, 0 or less for no limit.
    ///   - burst: The maximum unused time that may be made up for after an idle period. Default 100 ms.
    package init(bytesPerSecond: ByteCount?, burst: Duration = .milliseconds(100)) {
        self.bytesPerSecond = bytesPerSecond.flatMap { $0 > 0 ? $0 : nil }
        self.burst = max(0, MonotonicTime.seconds(burst))
    }

    /// Takes bytes that have arrived or are about to arrive. Returns the delay before the next ones, zero if there is
    /// no limit.
    ///
    /// Several callers may share a bucket; each waits for its own delay.
    ///
    /// - Parameter now: Monotonic time since an arbitrary start.
    package mutating func take(_ count: ByteCount, at now: Duration) -> Duration {
        guard let bytesPerSecond, count > 0 else { return .zero }
        let time = MonotonicTime.seconds(now)
        let start = max(paidUntil ?? -.infinity, time - burst)
        let end = min(start + Double(count) / Double(bytesPerSecond), time + MonotonicTime.seconds(Self.longestDelay))
        paidUntil = end
        return end > time ? .nanoseconds(Int64(((end - time) * 1e9).rounded())) : .zero
    }

    /// Returns the delay until all taken bytes are paid for.
    package func delay(at now: Duration) -> Duration {
        guard bytesPerSecond != nil, let paidUntil else { return .zero }
        let wait = paidUntil - MonotonicTime.seconds(now)
        guard wait > 0 else { return .zero }
        return .nanoseconds(Int64((min(wait, MonotonicTime.seconds(Self.longestDelay)) * 1e9).rounded()))
    }

    /// Changes the rate. The debt is carried over at the new rate, but at most one second of it, so that a lower rate
    /// does not look like a stall. Waiting callers should call ``delay(at:)`` again.
    package mutating func setRate(_ newRate: ByteCount?, at now: Duration) {
        let newRate = newRate.flatMap { $0 > 0 ? $0 : nil }
        guard newRate != bytesPerSecond else { return }
        let time = MonotonicTime.seconds(now)
        if let old = bytesPerSecond, let new = newRate, let paid = paidUntil, paid > time {
            paidUntil = time + min(1, (paid - time) * Double(old) / Double(new))
        } else {
            // A change from unlimited to limited leaves no unused time to make up for.
            paidUntil = newRate == nil ? nil : bytesPerSecond == nil ? time : paidUntil
        }
        bytesPerSecond = newRate
    }

    /// The piece size that keeps the rate even: the bytes of 20 ms, between 1 KiB and 1 MiB; `nil` for no limit.
    package var preferredPiece: Int? {
        bytesPerSecond.map { Int(min(1 << 20, max(1 << 10, $0 / 50))) }
    }

    /// The piece size for all bodies while one of several downloads has this rate: the preferred size, but at least 64 KiB,
    /// because smaller pieces would slow down the other downloads. For a low rate, the size is the number of bytes in one
    /// second, but at least 8 KiB, because with larger pieces the download would stand still between bursts. `nil` for no
    /// limit.
    package var sharedPiece: Int? {
        guard let bytesPerSecond, let preferredPiece else { return nil }
        return max(preferredPiece, Int(min(64 << 10, max(8 << 10, bytesPerSecond))))
    }
}
