package import FerryCore
import Synchronization

/// A rate limit that several connections share.
package final class Throttle: Sendable {
    private struct State {
        var bucket: TokenBucket
        /// How often the rate was changed.
        var changes = 0
        var sleepers: [Int: Task<Void, Never>] = [:]
        var lastSleeper = 0
    }
    private let state: Mutex<State>
    private let clock: any EngineClock

    /// `rate` in bytes per second; `nil` for no limit.
    package init(rate: ByteCount?, clock: any EngineClock) {
        state = Mutex(State(bucket: TokenBucket(bytesPerSecond: rate)))
        self.clock = clock
    }

    /// Changes the limit at once; those who sleep under the old one look again.
    package func set(rate: ByteCount?) {
        let now = clock.now()
        let sleepers = state.withLock { state in
            state.bucket.setRate(rate, at: now)
            state.changes += 1
            defer { state.sleepers.removeAll() }
            return Array(state.sleepers.values)
        }
        for sleeper in sleepers { sleeper.cancel() }
    }

    package var rate: ByteCount? { state.withLock { $0.bucket.bytesPerSecond } }

    /// The most bytes to take in at once under this limit; `nil` without one.
    package var preferredPiece: Int? { state.withLock { $0.bucket.preferredPiece } }

    /// Accounts for bytes that came in and waits until the next may.
    package func passed(_ count: ByteCount) async {
        var (delay, changes) = state.withLock { state in
            (state.bucket.bytesPerSecond == nil ? .zero : state.bucket.take(count, at: clock.now()), state.changes)
        }
        while delay > .zero, !Task.isCancelled {
            guard await sleep(for: delay, under: changes) else { return }
            (delay, changes) = state.withLock { ($0.bucket.delay(at: clock.now()), $0.changes) }
        }
    }

    /// Sleeps so long, or until the rate is changed: then true.
    private func sleep(for delay: Duration, under changes: Int) async -> Bool {
        // owner: state.sleepers, awaited here.
        let sleeper = Task { [clock] in _ = try? await clock.sleep(for: delay) }
        let number = state.withLock { state -> Int? in
            guard state.changes == changes else { return nil }
            state.lastSleeper += 1
            state.sleepers[state.lastSleeper] = sleeper
            return state.lastSleeper
        }
        if number == nil { sleeper.cancel() }
        await withTaskCancellationHandler {
            await sleeper.value
        } onCancel: {
            sleeper.cancel()
        }
        return state.withLock { state in
            if let number { state.sleepers[number] = nil }
            return state.changes != changes
        }
    }
}
