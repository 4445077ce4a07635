import Dispatch
import FerryCore
import Synchronization

/// Resumes one task after a delay, or earlier.
///
/// The timer fires on its own thread, because an app may keep Swift's cooperative pool busy, and a download without timers would
/// miss stalls and checkpoints.
final class WakeTimer: Sendable {
    private struct State {
        var timer: (any DispatchSourceTimer)?
        var sleeper: CheckedContinuation<Void, Never>?
        var hasFired = false
    }
    private let state = Mutex(State())
    private static let queue = DispatchQueue(label: "ferry.timer", qos: .userInitiated)

    /// Starts the timer, once; resumes the task immediately if ``fire()`` was called before.
    func start(after duration: Duration, waking sleeper: CheckedContinuation<Void, Never>) {
        let nanoseconds = min(max(0, duration.seconds * 1e9), 1e18)
        let hasFired = state.withLock { state in
            if state.hasFired { return true }
            let timer = DispatchSource.makeTimerSource(queue: Self.queue)
            timer.schedule(deadline: .now() + .nanoseconds(Int(nanoseconds)), leeway: .milliseconds(1))
            timer.setEventHandler { [weak self] in self?.fire() }
            state.timer = timer
            state.sleeper = sleeper
            timer.activate()
            return false
        }
        if hasFired { sleeper.resume() }
    }

    /// Returns after a duration as measured by `now`; throws when the task is cancelled.
    ///
    /// Timers stop during system sleep while `now` continues, so `now` is compared at least once per `interval`.
    static func sleep(
        for duration: Duration, by now: () -> Duration, lookingEach interval: Duration = .seconds(60)
    ) async throws {
        let start = now()
        var left = duration
        repeat {
            try Task.checkCancellation()
            let (timer, nap) = (WakeTimer(), min(left, interval))
            await withTaskCancellationHandler {
                await withCheckedContinuation { timer.start(after: nap, waking: $0) }
            } onCancel: {
                timer.fire()
            }
            try Task.checkCancellation()
            left = duration - (now() - start)
        } while left > .zero
    }

    /// Resumes the task now, unless it was resumed before.
    func fire() {
        let (timer, sleeper) = state.withLock { state in
            defer { (state.timer, state.sleeper, state.hasFired) = (nil, nil, true) }
            return (state.timer, state.sleeper)
        }
        timer?.cancel()
        sleeper?.resume()
    }
}
