import FerryCore
import FerryEngine
import Synchronization

/// Wakes the queue at the time that its last decision set.
///
/// Decisions of several tasks may set the timer in any order. Only a setting with a higher number than the last one has an
/// effect, so that an outdated time does not replace the time of a later decision. While a time is set, the timer has one task.
final class WakeTimer: Sendable {
    /// The setting that a decision makes.
    struct Setting: Sendable, Hashable {
        /// The time; `nil` for never.
        private(set) var at: Duration?
        private(set) var number: UInt64 = 0

        /// Changes the time, and returns the new setting; `nil` if the time is the same.
        mutating func changed(to time: Duration?) -> Setting? {
            guard time != at else { return nil }
            at = time
            number += 1
            return self
        }
    }

    private struct State {
        var number: UInt64 = 0
        var task: Task<Void, Never>?
    }
    private let state = Mutex(State())
    private let clock: any EngineClock

    init(_ clock: any EngineClock) { self.clock = clock }

    /// Calls `wake` at the time of the setting, unless a later setting replaces it before.
    func set(_ setting: Setting, _ wake: @escaping @Sendable (Duration) -> Void = { _ in }) {
        let last: Task<Void, Never>? = state.withLock { state in
            guard setting.number > state.number else { return nil }
            state.number = setting.number
            let last = state.task
            state.task = setting.at.map { time in
                // owner: state, cancelled when the timer is set again, which also happens when the list is closed.
                Task { [clock] in
                    try? await clock.sleep(until: time)
                    if !Task.isCancelled { wake(time) }
                }
            }
            return last
        }
        last?.cancel()
    }
}
