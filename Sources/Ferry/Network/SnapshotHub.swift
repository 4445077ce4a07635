import Synchronization

/// Holds the newest snapshot and tells everyone who listens; who is slow sees only the newest.
package final class SnapshotHub: Sendable {
    private struct State {
        var current: NetworkSnapshot
        var listeners: [Int: AsyncStream<NetworkSnapshot>.Continuation] = [:]
        var last = 0
    }
    private let state: Mutex<State>

    package init(_ snapshot: NetworkSnapshot = .assumed) { state = Mutex(State(current: snapshot)) }

    package var current: NetworkSnapshot { state.withLock { $0.current } }

    /// The newest snapshot, and each that differs from the one before.
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

    /// Changes the snapshot; a change to the same is none.
    package func update(_ change: (inout NetworkSnapshot) -> Void) {
        // Told under the lock, so that everyone sees the same order.
        state.withLock { state in
            let before = state.current
            change(&state.current)
            guard state.current != before else { return }
            for listener in state.listeners.values { listener.yield(state.current) }
        }
    }

    /// Ends every stream; those that are asked for later begin anew.
    package func finish() {
        let listeners = state.withLock { state in
            defer { state.listeners.removeAll() }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
