import Synchronization

/// Hands every event to everyone who listens, in order, none lost.
final class EventHub: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<DownloadEvent>.Continuation] = [:]
        var last = 0
        var isClosed = false
    }
    private let state = Mutex(State())

    func stream() -> AsyncStream<DownloadEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: DownloadEvent.self)
        let id: Int? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.last += 1
            state.listeners[state.last] = continuation
            return state.last
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.listeners[id] = nil }
        }
        return stream
    }

    func send(_ event: DownloadEvent) {
        // Under the lock, so that everyone sees the same order.
        state.withLock { state in
            for listener in state.listeners.values { listener.yield(event) }
        }
    }

    func close() {
        let listeners = state.withLock { state in
            state.isClosed = true
            defer { state.listeners.removeAll() }
            return state.listeners.values.map { $0 }
        }
        for listener in listeners { listener.finish() }
    }
}
