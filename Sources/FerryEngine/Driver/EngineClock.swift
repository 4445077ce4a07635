package import struct Foundation.Date
import Dispatch

/// Time as the engine sees it; tests put a manual one in its place.
package protocol EngineClock: Sendable {
    /// Monotonic time since any fixed start: for time-outs, speed and back-off, whatever the wall clock does. It goes on
    /// while the machine sleeps.
    func now() -> Duration
    /// The wall clock: for dates in headers, journals and events.
    func date() -> Date
    /// Returns when that much time has passed, or throws when the task is cancelled. What became due while the machine
    /// slept returns within a minute of its waking.
    func sleep(for duration: Duration) async throws
}

/// The clock of the machine.
package struct SystemClock: EngineClock {
    package init() {}

    /// When the machine was started, less the time that it has slept since then.
    private static let start =
        ContinuousClock.now - Duration.nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds))

    package func now() -> Duration { ContinuousClock.now - Self.start }
    package func date() -> Date { Date() }
    package func sleep(for duration: Duration) async throws { try await WakeTimer.sleep(for: duration, by: now) }
}
