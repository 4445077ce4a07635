import FerryCore
import Synchronization

/// Hands every event to everyone who listens, in order, none lost; a new listener hears first what ended earlier and
/// was not handled yet.
final class EventHub: Sendable {
    enum Item: Sendable {
        case event(DownloadEvent)
        /// All that ended earlier has been told.
        case upToDate
    }

    /// Where a listener's events go.
    struct Ear: Sendable {
        let yield: @Sendable (Item) -> Void
        let finish: @Sendable () -> Void
        let onTermination: @Sendable (@escaping @Sendable () -> Void) -> Void

        /// Events alone.
        init(_ continuation: AsyncStream<DownloadEvent>.Continuation) {
            yield = { if case .event(let event) = $0 { continuation.yield(event) } }
            finish = { continuation.finish() }
            onTermination = { body in continuation.onTermination = { _ in body() } }
        }

        /// Events, and that they are up to date.
        init(items continuation: AsyncStream<Item>.Continuation) {
            yield = { continuation.yield($0) }
            finish = { continuation.finish() }
            onTermination = { body in continuation.onTermination = { _ in body() } }
        }
    }

    private struct Listener {
        let ear: Ear
        /// What came while the earlier ones are being read; `nil` once they are told.
        var held: [DownloadEvent]?
    }
    private struct State {
        var listeners: [Int: Listener] = [:]
        var last = 0
        var isClosed = false
    }
    private let state = Mutex(State())

    /// Everything from now on into `ear`. `backlog` reads what ended earlier and was not handled, in order.
    func listen(_ ear: Ear, backlog: (@Sendable () async -> [DownloadEvent])? = nil) {
        let id: Int? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.last += 1
            state.listeners[state.last] = Listener(ear: ear, held: backlog == nil ? nil : [])
            return state.last
        }
        guard let id else { return ear.finish() }
        ear.onTermination { [weak self] in self?.state.withLock { $0.listeners[id] = nil } }
        guard let backlog else { return }
        // owner: nobody has to wait for it: it ends when the store has answered, and holds the hub weakly.
        Task { [weak self] in
            let earlier = await backlog()
            self?.release(id, after: earlier)
        }
    }

    private func release(_ id: Int, after earlier: [DownloadEvent]) {
        state.withLock { state in
            guard let listener = state.listeners[id], let held = listener.held else { return }
            let known = Set(earlier.compactMap(\.number))
            for event in earlier { listener.ear.yield(.event(event)) }
            listener.ear.yield(.upToDate)
            for event in held where event.number.map({ !known.contains($0) }) ?? true {
                listener.ear.yield(.event(event))
            }
            state.listeners[id]?.held = nil
        }
    }

    /// Whether anybody listens: what nobody hears need not be made.
    var isHeard: Bool { state.withLock { !$0.listeners.isEmpty } }

    func send(_ event: DownloadEvent) {
        // Under the lock, so that everyone sees the same order.
        state.withLock { state in
            for (id, listener) in state.listeners {
                if listener.held == nil {
                    listener.ear.yield(.event(event))
                } else {
                    state.listeners[id]?.held?.append(event)
                }
            }
        }
    }

    func close() {
        let listeners = state.withLock { state in
            state.isClosed = true
            defer { state.listeners.removeAll() }
            for listener in state.listeners.values {
                for event in listener.held ?? [] { listener.ear.yield(.event(event)) }
            }
            return state.listeners.values.map(\.ear)
        }
        for listener in listeners { listener.finish() }
    }
}
