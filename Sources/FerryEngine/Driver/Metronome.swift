import Synchronization

/// Rings the bells of all downloads that run, at every tick: one timer for a thousand downloads.
final class Metronome: Sendable {
    private struct State {
        var bells: [ObjectIdentifier: Signal] = [:]
        var task: Task<Void, Never>?
    }
    private let state = Mutex(State())
    private let clock: any EngineClock
    private let interval: Duration
    /// Not Swift's own threads, which an app may keep busy.
    private let executor: (any TaskExecutor)?

    init(clock: any EngineClock, interval: Duration, executor: (any TaskExecutor)? = nil) {
        self.clock = clock
        self.interval = interval
        self.executor = executor
    }

    deinit { state.withLock { $0.task }?.cancel() }

    /// Rings the bell at every tick from now on.
    func add(_ bell: Signal) {
        state.withLock { state in
            state.bells[ObjectIdentifier(bell)] = bell
            guard state.task == nil else { return }
            // owner: state.task; it ends by itself when no bell is left.
            state.task = Task(executorPreference: executor) { [weak self, clock, interval] in
                repeat { try? await clock.sleep(for: interval) } while !Task.isCancelled && self?.beat() == true
            }
        }
    }

    func remove(_ bell: Signal) {
        state.withLock { $0.bells[ObjectIdentifier(bell)] = nil }
    }

    private func beat() -> Bool {
        let bells = state.withLock { state in
            if state.bells.isEmpty { state.task = nil }
            return Array(state.bells.values)
        }
        for bell in bells { bell.ring() }
        return !bells.isEmpty
    }
}
