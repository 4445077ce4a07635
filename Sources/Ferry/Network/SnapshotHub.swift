import Synchronization

/// Holds the newest snapshot and sends it to all listeners; a slow one gets only the newest.
package final class SnapshotHub: Sendable {
    private struct State {
        var current: NetworkSnapshot
        var listeners: [Int: AsyncStream<NetworkSnapshot>.Continuation] = [:]
        var last = 0
    }
    private let state: Mutex<State>

    package init(_ snapshot: NetworkSnapshot = .assumed) { state = Mutex(State(current: snapshot)) }

    package var current: NetworkSnapshot { state.withLock { $0.current } }

    /// The newest snapshot and every later one that differs from its predecessor.
    package func changes() -> AsyncStream<NetworkSnapshot> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: NetworkSnapshot.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            state.last += 1
            state.listeners[state.last] = continuation
            continuation.yield(state.current)
            return state.last
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: id) }
        }
        return stream
    }

    /// Changes the snapshot; an equal one is not sent.
    package func update(_ change: (inout NetworkSnapshot) -> Void) {
        // Yield under the lock, so that all listeners see the same order.
        state.withLock { state in
            let before = state.current
            change(&state.current)
            guard state.current != before else { return }
            for listener in state.listeners.values { listener.yield(state.current) }
        }
    }

    /// Ends all streams; streams created later are not affected.
    package func finish() {
        let listeners = state.withLock { state in
            defer { state.listeners.removeAll() }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
