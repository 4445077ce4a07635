/// A rate limit: says how long to wait after bytes were taken. Pure: the time is an argument.
///
/// Invariant: over any span of t seconds at most rate · (t + burst) bytes, and the last bytes taken, go through.
/// Bytes are paid for after they came, so whoever takes them waits the answer before it takes more. Callers take small
/// pieces, at most ``preferredPiece``, so that "the last bytes taken" is little.
package struct TokenBucket: Sendable, Hashable {
    /// Bytes per second; `nil` for no limit.
    package private(set) var bytesPerSecond: ByteCount?
    /// Unused time that may be made up for, in seconds.
    private let burst: Double
    /// When everything taken so far is paid for, in seconds since the arbitrary start; `nil` before the first.
    private var paidUntil: Double?

    /// No answer is longer than this, whatever was taken.
    package static let longestDelay: Duration = .seconds(3600)

    /// A bucket that starts full.
    ///
    /// - Parameters:
    ///   - bytesPerSecond: `nil`, 0 or less for no limit.
    ///   - burst: How much time's worth may go at once after a rest. Default 100 ms.
    package init(bytesPerSecond: ByteCount?, burst: Duration = .milliseconds(100)) {
        self.bytesPerSecond = bytesPerSecond.flatMap { $0 > 0 ? $0 : nil }
        self.burst = max(0, MonotonicTime.seconds(burst))
    }

    /// Takes bytes that have come or are about to, and says how long to wait before the next; zero for no limit.
    ///
    /// Several takers may share a bucket: each waits its own answer.
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

    /// How long until everything taken so far is paid for.
    package func delay(at now: Duration) -> Duration {
        guard bytesPerSecond != nil, let paidUntil else { return .zero }
        let wait = paidUntil - MonotonicTime.seconds(now)
        guard wait > 0 else { return .zero }
        return .nanoseconds(Int64((min(wait, MonotonicTime.seconds(Self.longestDelay)) * 1e9).rounded()))
    }

    /// Changes the rate. What is owed is carried over at the new rate, but never more than one second of it, so that a
    /// lower rate does not look like a stall; whoever waits should ask ``delay(at:)`` again.
    package mutating func setRate(_ newRate: ByteCount?, at now: Duration) {
        let newRate = newRate.flatMap { $0 > 0 ? $0 : nil }
        guard newRate != bytesPerSecond else { return }
        let time = MonotonicTime.seconds(now)
        if let old = bytesPerSecond, let new = newRate, let paid = paidUntil, paid > time {
            paidUntil = time + min(1, (paid - time) * Double(old) / Double(new))
        } else {
            // From unlimited to limited there is no saved-up burst either.
            paidUntil = newRate == nil ? nil : bytesPerSecond == nil ? time : paidUntil
        }
        bytesPerSecond = newRate
    }

    /// The most bytes to take at once so that the rate stays even: 20 ms' worth, 1 KiB to 1 MiB; `nil` for no limit.
    package var preferredPiece: Int? {
        bytesPerSecond.map { Int(min(1 << 20, max(1 << 10, $0 / 50))) }
    }
}
