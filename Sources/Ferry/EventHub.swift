import Synchronization

/// Hands every event to everyone who listens, in order, none lost.
final class EventHub: Sendable {
    private struct State {
        var listeners: [Int: EventMailbox] = [:]
        var last = 0
        var isClosed = false
    }
    private let state = Mutex(State())

    func stream() -> AsyncStream<DownloadEvent> {
        let mailbox = EventMailbox()
        let id: Int? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.last += 1
            state.listeners[state.last] = mailbox
            return state.last
        }
        guard let id else { return AsyncStream { nil } }
        // Let go of by the stream, at its end or before it, it leaves the list.
        let place = Place { [weak self] in self?.state.withLock { $0.listeners[id] = nil } }
        return AsyncStream {
            _ = place
            return await mailbox.next()
        }
    }

    func send(_ event: DownloadEvent) {
        // Appended under the lock, so that everyone sees the same order; woken outside, so that nobody waits for that.
        let listeners = state.withLock { state in state.listeners.values.compactMap { $0.append(event) } }
        for listener in listeners { listener.resume() }
    }

    func close() {
        let listeners = state.withLock { state in
            state.isClosed = true
            defer { state.listeners.removeAll() }
            return state.listeners.values.map { $0 }
        }
        for listener in listeners { listener.close() }
    }
}

/// Does something when it is let go.
private final class Place: Sendable {
    private let leave: @Sendable () -> Void
    init(_ leave: @escaping @Sendable () -> Void) { self.leave = leave }
    deinit { leave() }
}
