import FerryCore
import Synchronization

/// Notifies the events of all running downloads at each tick, with one timer for all of them.
final class Ticker: Sendable {
    private struct State {
        var events: [ObjectIdentifier: AsyncEvent] = [:]
        var task: Task<Void, Never>?
    }
    private let state = Mutex(State())
    private let clock: any EngineClock
    private let interval: Duration
    /// The executor of the ticks; not the cooperative pool, because an app may keep it busy.
    private let executor: (any TaskExecutor)?

    init(clock: any EngineClock, interval: Duration, executor: (any TaskExecutor)? = nil) {
        self.clock = clock
        self.interval = interval
        self.executor = executor
    }

    deinit { state.withLock { $0.task }?.cancel() }

    /// Notifies `event` at each tick from now on.
    func add(_ event: AsyncEvent) {
        state.withLock { state in
            state.events[ObjectIdentifier(event)] = event
            guard state.task == nil else { return }
            // owner: state.task; it ends when no event is left.
            state.task = Task(executorPreference: executor) { [weak self, clock, interval] in
                repeat { try? await clock.sleep(for: interval) } while !Task.isCancelled && self?.tick() == true
            }
        }
    }

    func remove(_ event: AsyncEvent) {
        state.withLock { $0.events[ObjectIdentifier(event)] = nil }
    }

    private func tick() -> Bool {
        let events = state.withLock { state in
            if state.events.isEmpty { state.task = nil }
            return Array(state.events.values)
        }
        for event in events { event.notify() }
        return !events.isEmpty
    }
}
