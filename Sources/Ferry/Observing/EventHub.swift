import FerryCore
import Synchronization

/// Hands every event to everyone who listens, in order, no end of a download lost; a new listener hears first what ended earlier and
/// was not handled yet.
final class EventHub: Sendable {
    private struct Listener {
        let mailbox: EventMailbox
        /// What came while the earlier ones are being read; `nil` once they are told.
        var held: WaitingEvents?
        /// The numbers of the earlier ones. Of the last of them some are sent as well: an end is written down, and may be
        /// read here, before it is sent.
        var earlier: Set<Int64> = []
        /// It leaves once they are told.
        var isLeaving = false

        func hasHeard(_ event: DownloadEvent) -> Bool { event.number.map(earlier.contains) ?? false }
    }
    private struct State {
        var listeners: [Int: Listener] = [:]
        var last = 0
        var isClosed = false
    }
    private let state = Mutex(State())

    /// A place among the listeners; it is given up when this is let go.
    final class Place: Sendable {
        let mailbox: EventMailbox
        private weak let hub: EventHub?
        private let id: Int

        fileprivate init(_ mailbox: EventMailbox, _ hub: EventHub? = nil, _ id: Int = 0) {
            self.mailbox = mailbox
            self.hub = hub
            self.id = id
        }

        deinit { leave() }

        /// Nothing comes here any more.
        func leave() { hub?.leave(id) }

        /// The mailbox closes behind all that was sent by now, what ended earlier included.
        func close() { hub?.close(id) }
    }

    /// Everything from now on. `backlog` reads what ended earlier and was not handled, in order; `nil` when nobody can
    /// say, because it is closed.
    func listen(backlog: (@Sendable () async -> [DownloadEvent]?)? = nil) -> Place {
        let mailbox = EventMailbox()
        let id: Int? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.last += 1
            state.listeners[state.last] = Listener(mailbox: mailbox, held: backlog == nil ? nil : WaitingEvents())
            return state.last
        }
        guard let id else {
            mailbox.close()
            return Place(mailbox)
        }
        if let backlog {
            // owner: nobody has to wait for it: it ends when the store has answered, and holds the hub weakly.
            Task { [weak self] in
                guard let earlier = await backlog() else { return }
                self?.release(id, after: earlier)
            }
        }
        return Place(mailbox, self, id)
    }

    private func leave(_ id: Int) { state.withLock { $0.listeners[id] = nil } }

    private func close(_ id: Int) {
        let mailbox: EventMailbox? = state.withLock { state in
            guard let listener = state.listeners[id] else { return nil }
            if listener.held != nil {
                state.listeners[id]?.isLeaving = true
                return nil
            }
            state.listeners[id] = nil
            return listener.mailbox
        }
        mailbox?.close()
    }

    private func release(_ id: Int, after earlier: [DownloadEvent]) {
        let (listener, closing): (CheckedContinuation<Void, Never>?, EventMailbox?) = state.withLock { state in
            guard var listener = state.listeners[id], let held = listener.held else { return (nil, nil) }
            listener.held = nil
            listener.earlier = Set(earlier.compactMap(\.number))
            state.listeners[id] = listener.isLeaving ? nil : listener
            let mailbox = listener.mailbox
            var woken: CheckedContinuation<Void, Never>?
            func tell(_ item: EventMailbox.Item) { woken = mailbox.append(item) ?? woken }
            for event in earlier { tell(.event(event)) }
            tell(.upToDate)
            for item in held.items {
                if case .event(let event) = item, listener.hasHeard(event) { continue }
                tell(item)
            }
            return (woken, listener.isLeaving ? mailbox : nil)
        }
        listener?.resume()
        closing?.close()
    }

    /// Whether anybody listens: what nobody hears need not be made.
    var isHeard: Bool { state.withLock { !$0.listeners.isEmpty } }

    func send(_ event: DownloadEvent) {
        // Appended under the lock, so that everyone sees the same order; woken outside, so that nobody waits for that.
        let woken: [CheckedContinuation<Void, Never>] = state.withLock { state in
            var woken: [CheckedContinuation<Void, Never>] = []
            for (id, listener) in state.listeners {
                if listener.held != nil {
                    state.listeners[id]?.held?.append(.event(event))
                } else if !listener.hasHeard(event), let waiting = listener.mailbox.append(.event(event)) {
                    woken.append(waiting)
                }
            }
            return woken
        }
        for listener in woken { listener.resume() }
    }

    func close() {
        let listeners = state.withLock { state in
            state.isClosed = true
            defer { state.listeners.removeAll() }
            return Array(state.listeners.values)
        }
        for listener in listeners {
            for item in listener.held?.items ?? [] { listener.mailbox.put(item) }
            listener.mailbox.close()
        }
    }
}
