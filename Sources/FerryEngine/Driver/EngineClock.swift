package import struct Foundation.Date
import Dispatch

/// Time as the engine sees it; tests put a manual one in its place.
package protocol EngineClock: Sendable {
    /// Monotonic time since any fixed start: for time-outs, speed and back-off, whatever the wall clock does.
    func now() -> Duration
    /// The wall clock: for dates in headers, journals and events.
    func date() -> Date
    /// Returns when that much time has passed, or throws when the task is cancelled.
    func sleep(for duration: Duration) async throws
}

/// The clock of the machine.
package struct SystemClock: EngineClock {
    package init() {}

    package func now() -> Duration { .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds)) }
    package func date() -> Date { Date() }
    package func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        let alarm = Alarm()
        await withTaskCancellationHandler {
            await withCheckedContinuation { alarm.start(after: duration, waking: $0) }
        } onCancel: {
            alarm.ring()
        }
        try Task.checkCancellation()
    }
}
