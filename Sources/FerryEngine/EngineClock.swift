import Dispatch
import FerryCore

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The engine's source of time; tests substitute a manual clock.
package protocol EngineClock: Sendable {
    /// Monotonic time since a fixed start, for time-outs, speed and back-off. Independent of the wall clock;
    /// continues during system sleep.
    func now() -> Duration
    /// The wall clock, for dates in headers, journals and events.
    func date() -> Date
    /// Returns after `duration`, or throws when the task is cancelled. A deadline that passes during system sleep is
    /// noticed within a minute of waking.
    func sleep(for duration: Duration) async throws
    /// Returns once ``now()`` has reached `moment`, or throws when the task is cancelled.
    func sleep(until moment: Duration) async throws
}

extension EngineClock {
    package func sleep(until moment: Duration) async throws { try await sleep(for: max(.zero, moment - now())) }
}

/// The system's clocks.
package struct SystemClock: EngineClock {
    package init() {}

    /// The boot time, moved forward by the time spent asleep since then.
    private static let start =
        ContinuousClock.now - Duration.nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds))

    package func now() -> Duration { ContinuousClock.now - Self.start }
    package func date() -> Date { Date() }
    package func sleep(for duration: Duration) async throws { try await WakeTimer.sleep(for: duration, by: now) }
}
