import FerryEngine
package import struct Foundation.Date
import Synchronization

/// A clock on which every sleep takes one millisecond of real time, and that can be advanced.
package final class QuickClock: EngineClock {
    private let time = Mutex(Duration.seconds(1000))

    package init() {}

    package func now() -> Duration { time.withLock { $0 } }

    package func date() -> Date {
        let seconds = now().components.seconds
        // A date in 2025, later than those of the resources.
        return Date(timeIntervalSince1970: 1_750_000_000 + Double(seconds))
    }

    /// Advances the clock.
    package func advance(by duration: Duration) { time.withLock { $0 += duration } }

    package func sleep(for duration: Duration) async throws {
        let end = now() + duration
        try await Task.sleep(for: .milliseconds(1))
        time.withLock { $0 = max($0, end) }
    }
}
