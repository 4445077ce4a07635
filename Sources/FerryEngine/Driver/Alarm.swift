import Dispatch
import FerryCore
import Synchronization

/// Wakes one task when some time has passed, or sooner.
///
/// On a thread that is not one of Swift's own: those may all be taken by an app that computes in its tasks, and a download
/// whose time stands still notices no stall and makes nothing durable.
final class Alarm: Sendable {
    private struct State {
        var timer: (any DispatchSourceTimer)?
        var sleeper: CheckedContinuation<Void, Never>?
        var hasRung = false
    }
    private let state = Mutex(State())
    private static let queue = DispatchQueue(label: "ferry.alarm", qos: .userInitiated)

    /// Sets it, once. What has rung before wakes at once.
    func start(after duration: Duration, waking sleeper: CheckedContinuation<Void, Never>) {
        let nanoseconds = min(max(0, duration.seconds * 1e9), 1e18)
        let isLate = state.withLock { state in
            if state.hasRung { return true }
            let timer = DispatchSource.makeTimerSource(queue: Self.queue)
            timer.schedule(deadline: .now() + .nanoseconds(Int(nanoseconds)), leeway: .milliseconds(1))
            timer.setEventHandler { [weak self] in self?.ring() }
            state.timer = timer
            state.sleeper = sleeper
            timer.activate()
            return false
        }
        if isLate { sleeper.resume() }
    }

    /// Returns when so much time has passed by `now`, or throws when the task is cancelled.
    ///
    /// A timer stands still while the machine sleeps, and time does not: it is looked at at least as often as this.
    static func sleep(
        for duration: Duration, by now: () -> Duration, lookingEach interval: Duration = .seconds(60)
    ) async throws {
        let start = now()
        var left = duration
        repeat {
            try Task.checkCancellation()
            let (alarm, nap) = (Alarm(), min(left, interval))
            await withTaskCancellationHandler {
                await withCheckedContinuation { alarm.start(after: nap, waking: $0) }
            } onCancel: {
                alarm.ring()
            }
            try Task.checkCancellation()
            left = duration - (now() - start)
        } while left > .zero
    }

    /// Wakes the sleeper now, if nothing has yet.
    func ring() {
        let (timer, sleeper) = state.withLock { state in
            defer { (state.timer, state.sleeper, state.hasRung) = (nil, nil, true) }
            return (state.timer, state.sleeper)
        }
        timer?.cancel()
        sleeper?.resume()
    }
}
