package import FerryCore
import Synchronization

/// Sends every event to all listeners, in order. A new listener first receives the unacknowledged ends of downloads from earlier
/// processes.
package final class EventHub: Sendable {
    private struct Listener {
        let mailbox: EventMailbox
        /// Events sent while the backlog is being read; `nil` once the backlog has been delivered.
        var held: WaitingEvents?
        /// The numbers of the backlog's events. An end is stored before it is sent, so the backlog may contain events
        /// that are also sent.
        var earlier: Set<Int64> = []
        /// Whether the listener closes once the backlog has been delivered.
        var isLeaving = false

        func hasHeard(_ event: DownloadEvent) -> Bool { event.number.map(earlier.contains) ?? false }
    }
    private struct State {
        var listeners: [Int: Listener] = [:]
        var last = 0
        var isClosed = false
    }
    private let state = Mutex(State())
    private let metrics: ManagerMetrics?
    private let log: (@Sendable (LogEntry) -> Void)?

    /// - Parameters:
    ///   - metrics: Counts each event; `nil` in a client of a daemon (``RemoteSession``), because the daemon counts them
    ///     itself.
    ///   - log: Receives each event; `nil` if the system has no log of its own.
    init(_ metrics: ManagerMetrics? = nil, log: (@Sendable (LogEntry) -> Void)? = SystemLog.write) {
        self.metrics = metrics
        self.log = log
    }

    /// A listener's registration; releasing it unregisters the listener.
    package final class Place: Sendable {
        let mailbox: EventMailbox
        private weak let hub: EventHub?
        private let id: Int

        fileprivate init(_ mailbox: EventMailbox, _ hub: EventHub? = nil, _ id: Int = 0) {
            self.mailbox = mailbox
            self.hub = hub
            self.id = id
        }

        deinit { leave() }

        /// Unregisters the listener; no further events arrive.
        func leave() { hub?.leave(id) }

        /// Closes the mailbox after all events sent so far, including the backlog.
        func close() { hub?.close(id) }
    }

    /// Registers a listener for all events from now on. `backlog` reads the unacknowledged ends of downloads from earlier
    /// processes, in order; it returns `nil` if the list is closed and they cannot be read.
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
            // owner: none; the task ends when the store has answered, and holds the hub weakly.
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

    /// Whether there are listeners or a log; if not, events need not be created.
    var isHeard: Bool { log != nil || state.withLock { !$0.listeners.isEmpty } }

    func send(_ event: DownloadEvent) {
        metrics?.happened(event.kind)
        log?(LogEntry(event))
        // Append while the lock is held, so that all listeners see the same order; resume after the lock is released.
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

/// Sends the latest network status to all listeners.
package final class NetworkHub: Sendable {
    private let isClosed = Atomic(false)
    private let followers = Broadcast<NetworkStatus>()

    package init() {}

    /// Returns a stream of the status that `current` returns and every later one; without the former if `current` returns `nil`.
    package func stream(from current: () -> NetworkStatus?) -> AsyncStream<NetworkStatus> {
        followers.stream { (current(), isLast: isClosed.load(ordering: .acquiring)) }
    }

    package func send(_ status: NetworkStatus) { followers.send { (status, isLast: false) } }

    package func close() {
        isClosed.store(true, ordering: .releasing)
        followers.finish()
    }
}
