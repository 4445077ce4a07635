package import FerryAPI
import FerryCore
import Synchronization

/// Distributes events to all clients of the stream.
///
/// Clients have no queues: each has a cursor into a shared ring and a copy of the newest progress. A client that falls too far
/// behind starts again with a snapshot, so the ring bounds the memory for any number of clients.
package final class EventBroadcaster: Sendable {
    /// One connection to the event stream.
    final class Client: Sendable {
        /// `nil` for all sessions.
        let session: String?
        /// Whether the client is the session's app, and not an observer.
        let isAttached: Bool
        /// The number of the newest progress batch when the client connected; the client receives only newer batches.
        let firstProgress: Int64
        let wakes: AsyncStream<Void>
        fileprivate let wake: AsyncStream<Void>.Continuation

        fileprivate init(session: String?, isAttached: Bool, firstProgress: Int64) {
            self.session = session
            self.isAttached = isAttached
            self.firstProgress = firstProgress
            (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        }
    }

    /// The result of one read for a client.
    enum EventBatch: Sendable {
        /// Events and progress to send.
        case lines([EventRing.Entry], progress: [UInt8]?)
        /// The cursor is no longer in the ring; the client needs a snapshot.
        case reset
        /// No new events.
        case nothing
        /// The daemon is shutting down.
        case end
    }

    private struct State {
        var ring: EventRing
        var clients: [ObjectIdentifier: Client] = [:]
        var progress: [String?: (number: Int64, bytes: [UInt8])] = [:]
        var lastProgress: Int64 = 0
        /// The number of clients that have ever connected.
        var entrances = 0
        var isClosed = false
        /// When the last client disconnected.
        var lastSeen: Duration?
        var attached: [String: Int] = [:]
    }
    private let state: Mutex<State>
    /// Identifies this run of the daemon.
    package let boot: String
    private let now: @Sendable () -> Duration
    /// Called when the number of clients of a session changes.
    private let onAttach = Mutex<(@Sendable (String) -> Void)?>(nil)

    init(limits: EventRing.Limits = EventRing.Limits(), now: @escaping @Sendable () -> Duration = { .sinceStart }) {
        state = Mutex(State(ring: EventRing(limits: limits)))
        boot = RandomText.hex(bytes: 6)
        self.now = now
    }

    // MARK: Publishing

    /// Adds an event for one session; for all sessions if `session` is `nil`.
    func publish(_ event: StreamEvent, session: String?, ending: Int64? = nil) {
        guard let data = try? event.data() else { return }
        let text = String(decoding: data, as: UTF8.self)
        let time = now()
        let clients = state.withLock { state in
            state.ring.append(session: session, ending: ending, at: time) { number in
                let id = EventID(boot: boot, number: number)
                let sent = ServerSentEvent(id: id.description, name: event.name.rawValue, data: text)
                return Array(sent.text.utf8)
            }
            return state.clients.values.filter { session == nil || $0.session == nil || $0.session == session }
        }
        for client in clients { client.wake.yield() }
    }

    /// Replaces the newest progress of one session; of all sessions if `session` is `nil`.
    func publish(progress bytes: [UInt8], session: String?) {
        let clients = state.withLock { state in
            state.lastProgress += 1
            state.progress[session] = (state.lastProgress, bytes)
            return state.clients.values.filter { $0.session == session }
        }
        for client in clients { client.wake.yield() }
    }

    /// Discards all events because too much has changed to send it one event at a time. All clients start again with a snapshot.
    func forget() {
        let clients = state.withLock { state in
            state.ring.forget()
            return Array(state.clients.values)
        }
        for client in clients { client.wake.yield() }
    }

    /// Removes expired events and wakes all clients for a keep-alive.
    func tick() {
        let time = now()
        let clients = state.withLock { state in
            state.ring.trim(at: time)
            return Array(state.clients.values)
        }
        for client in clients { client.wake.yield() }
    }

    /// Whether a client is connected, or may reconnect with a `Last-Event-ID` that is still in the ring.
    var isFollowed: Bool {
        let time = now()
        return state.withLock { state in
            !state.clients.isEmpty || state.lastSeen.map { $0 + state.ring.limits.age > time } ?? false
        }
    }

    /// The sessions that clients observe, with `nil` for all sessions, and the number of clients that have ever connected. When
    /// that number increases, a new client needs the progress of every download.
    var following: (sessions: Set<String?>, entrances: Int) {
        state.withLock { (Set($0.clients.values.map(\.session)), $0.entrances) }
    }

    /// Ends all streams.
    package func close() {
        let clients = state.withLock { state in
            state.isClosed = true
            return Array(state.clients.values)
        }
        for client in clients { client.wake.yield() }
    }

    // MARK: Clients

    /// The identifier of the newest event.
    package var lastID: EventID { EventID(boot: boot, number: state.withLock { $0.ring.last }) }

    /// Adds a client of one session; of all sessions if `session` is `nil`. `isAttached` marks the client as the session's app.
    func enter(session: String?, isAttached: Bool = true) -> Client {
        let client = state.withLock { state -> Client in
            let client = Client(
                session: session, isAttached: isAttached && session != nil, firstProgress: state.lastProgress)
            state.clients[ObjectIdentifier(client)] = client
            state.entrances += 1
            if client.isAttached, let session { state.attached[session, default: 0] += 1 }
            return client
        }
        client.wake.yield()
        if let session { onAttach.withLock { $0 }?(session) }
        return client
    }

    func leave(_ client: Client) {
        let time = now()
        state.withLock { state in
            guard state.clients.removeValue(forKey: ObjectIdentifier(client)) != nil else { return }
            state.lastSeen = time
            if !state.clients.values.contains(where: { $0.session == client.session }) {
                state.progress[client.session] = nil
            }
            guard client.isAttached, let session = client.session, let count = state.attached[session] else { return }
            state.attached[session] = count > 1 ? count - 1 : nil
        }
        if let session = client.session { onAttach.withLock { $0 }?(session) }
    }

    /// The number of clients that are the app of this session.
    func clients(of session: String) -> Int { state.withLock { $0.attached[session] ?? 0 } }

    /// The number of events in the ring.
    var heldEvents: Int { state.withLock { $0.ring.count } }

    /// The number of connected clients.
    package var clientCount: Int { state.withLock { $0.clients.count } }

    func whenClientsChange(_ tell: @escaping @Sendable (String) -> Void) { onAttach.withLock { $0 = tell } }

    /// Returns the cursor for a client that last received this event; `nil` if the client needs a snapshot.
    func cursor(after id: EventID?) -> Int64? {
        guard let id, id.boot == boot else { return nil }
        return state.withLock { $0.ring.reaches(id.number) ? id.number : nil }
    }

    /// Returns the client's new events and advances its cursors. `progress` begins at the client's `firstProgress`.
    func take(for client: Client, cursor: inout Int64, progress: inout Int64) -> EventBatch {
        state.withLock { state in
            if state.isClosed { return .end }
            guard let entries = state.ring.take(after: &cursor, session: client.session, most: 1 << 16) else {
                return .reset
            }
            var newest: [UInt8]?
            if let latest = state.progress[client.session], latest.number > progress {
                progress = latest.number
                newest = latest.bytes
            }
            return entries.isEmpty && newest == nil ? .nothing : .lines(entries, progress: newest)
        }
    }
}

extension Duration {
    /// The monotonic time since the first use of this property in the process.
    static var sinceStart: Duration { ContinuousClock.now - origin }
    private static let origin = ContinuousClock.now
}
