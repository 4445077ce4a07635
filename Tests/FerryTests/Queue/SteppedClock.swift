import FerryCore
import Foundation
import Synchronization

@testable import FerryEngine

/// The machine's clock, advanced by a test; sleeps of two seconds or more end only by that.
final class SteppedClock: EngineClock {
    private struct Sleeper {
        let until: Duration
        let continuation: CheckedContinuation<Void, Never>
    }
    private struct State {
        var offset = Duration.zero
        /// The seconds by which the wall clock was set forward.
        var wall = 0.0
        var last = 0
        var sleepers: [Int: Sleeper] = [:]
    }
    private let state = Mutex(State())
    private let system = SystemClock()

    func now() -> Duration { state.withLock { $0.offset } + system.now() }
    func date() -> Date { system.date().addingTimeInterval(state.withLock { $0.offset.seconds + $0.wall }) }

    /// Sets the wall clock forward or back; the monotonic clock goes on as before.
    func setWall(by seconds: Double) { state.withLock { $0.wall += seconds } }

    /// Advances the clock.
    func jump(_ duration: Duration) {
        let woken = state.withLock { state in
            state.offset += duration
            let now = state.offset + system.now()
            let due = state.sleepers.filter { $0.value.until <= now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for sleeper in woken { sleeper.resume() }
    }

    func sleep(for duration: Duration) async throws {
        try await sleep(until: now() + duration)
    }

    /// Compares the clock with `until` after every jump, also one between the caller's reading of the clock and this
    /// call.
    func sleep(until: Duration) async throws {
        let left = until - now()
        if left < .seconds(2) { return try await system.sleep(for: max(.zero, left)) }
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let continues = state.withLock { state in
                    if Task.isCancelled || state.offset + system.now() >= until { return true }
                    state.sleepers[id] = Sleeper(until: until, continuation: continuation)
                    return false
                }
                if continues { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume()
        }
        try Task.checkCancellation()
    }
}
