import FerryEngine
package import struct Foundation.Date
import Synchronization

/// A clock that moves only when it is advanced, which wakes the sleeping tasks that are due.
package final class ManualClock: EngineClock {
    private struct Sleeper {
        let until: Duration
        let continuation: CheckedContinuation<Void, Never>
    }
    private struct State {
        var now = Duration.seconds(1000)
        var last = 0
        var sleepers: [Int: Sleeper] = [:]
        /// The number of tasks that were woken and are not asleep again yet.
        var awake = 0
        var settled: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())

    package init() {}

    package func now() -> Duration { state.withLock { $0.now } }

    package func date() -> Date {
        let seconds = now().components.seconds
        // A date in 2025, later than those of the resources.
        return Date(timeIntervalSince1970: 1_750_000_000 + Double(seconds))
    }

    /// Advances the clock and wakes the tasks that are due.
    package func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now += duration
            let now = state.now
            let due = state.sleepers.filter { $0.value.until <= now }
            for id in due.keys { state.sleepers[id] = nil }
            state.awake += due.count
            return due.values.map(\.continuation)
        }
        for sleeper in woken { sleeper.resume() }
    }

    /// Advances the clock. Returns when the woken tasks, which must be periodic, are asleep again.
    package func beat(by duration: Duration) async {
        advance(by: duration)
        await withCheckedContinuation { continuation in
            let isSettled = state.withLock { state in
                if state.awake > 0 { state.settled.append(continuation) }
                return state.awake == 0
            }
            if isSettled { continuation.resume() }
        }
    }

    package func sleep(for duration: Duration) async throws {
        let (id, until) = state.withLock { state in
            state.last += 1
            return (state.last, state.now + duration)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (continues, settled) = state.withLock { state in
                    if Task.isCancelled || state.now >= until {
                        return (true, [CheckedContinuation<Void, Never>]())
                    }
                    state.sleepers[id] = Sleeper(until: until, continuation: continuation)
                    state.awake = max(0, state.awake - 1)
                    guard state.awake == 0 else { return (false, []) }
                    defer { state.settled = [] }
                    return (false, state.settled)
                }
                if continues { continuation.resume() }
                for waiting in settled { waiting.resume() }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume()
        }
        try Task.checkCancellation()
    }
}
