import FerryEngine
package import struct Foundation.Date
import Synchronization

/// Time that goes a hundred times as fast while somebody sleeps, and jumps when told.
package final class QuickClock: EngineClock {
    private let time = Mutex(Duration.seconds(1000))

    package init() {}

    package func now() -> Duration { time.withLock { $0 } }

    package func date() -> Date {
        let seconds = now().components.seconds
        // A day of 2025: later than the dates that resources have.
        return Date(timeIntervalSince1970: 1_750_000_000 + Double(seconds))
    }

    /// Puts the clock forward.
    package func advance(by duration: Duration) { time.withLock { $0 += duration } }

    package func sleep(for duration: Duration) async throws {
        let end = now() + duration
        try await Task.sleep(for: .milliseconds(1))
        time.withLock { $0 = max($0, end) }
    }
}
