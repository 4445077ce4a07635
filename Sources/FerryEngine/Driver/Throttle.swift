package import FerryCore
import Synchronization

/// A rate limit that several connections share.
package final class Throttle: Sendable {
    private let bucket: Mutex<TokenBucket>
    private let clock: any EngineClock

    /// `rate` in bytes per second; `nil` for no limit.
    package init(rate: ByteCount?, clock: any EngineClock) {
        bucket = Mutex(TokenBucket(bytesPerSecond: rate))
        self.clock = clock
    }

    /// Changes the limit at once, for those who wait too from their next piece on.
    package func set(rate: ByteCount?) {
        let now = clock.now()
        bucket.withLock { $0.setRate(rate, at: now) }
    }

    package var rate: ByteCount? { bucket.withLock { $0.bytesPerSecond } }

    /// The most bytes to take in at once under this limit; `nil` without one.
    package var preferredPiece: Int? { bucket.withLock { $0.preferredPiece } }

    /// Accounts for bytes that came in and waits until the next may.
    package func passed(_ count: ByteCount) async {
        let delay = bucket.withLock { bucket in
            bucket.bytesPerSecond == nil ? .zero : bucket.take(count, at: clock.now())
        }
        if delay > .zero { try? await clock.sleep(for: delay) }
    }
}
