package import FerryAPI
import FerryCore
import Foundation
import Synchronization

/// Where events come together and every client takes them from.
///
/// A client has no queue: it has a place in the ring, which all share, and the newest progress. One that is too slow loses its
/// place, and begins anew with a snapshot. So the memory for any number of clients is that of the ring.
package final class EventBroadcaster: Sendable {
    /// Who follows the stream.
    final class Client: Sendable {
        /// `nil` for all sessions.
        let session: String?
        /// Whether it is the app of that session, or only looks at it.
        let isAttached: Bool
        /// The batch of progress that was the newest when it entered: older than all that it is told.
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

    /// What there is for a client.
    enum EventBatch: Sendable {
        /// Lines to send.
        case lines([EventRing.Entry], progress: [UInt8]?)
        /// It has lost its place.
        case reset
        /// Nothing new.
        case nothing
        /// The daemon leaves.
        case end
    }

    private struct State {
        var ring: EventRing
        var clients: [ObjectIdentifier: Client] = [:]
        var progress: [String?: (number: Int64, bytes: [UInt8])] = [:]
        var lastProgress: Int64 = 0
        /// How often somebody has entered.
        var entrances = 0
        var isClosed = false
        /// When the last client was there.
        var lastSeen: Duration?
        var attached: [String: Int] = [:]
    }
    private let state: Mutex<State>
    /// Names this life of the daemon.
    package let boot: String
    private let now: @Sendable () -> Duration
    /// Hears when the number of clients of a session has changed.
    private let onAttach = Mutex<(@Sendable (String) -> Void)?>(nil)

    init(limits: EventRing.Limits = EventRing.Limits(), now: @escaping @Sendable () -> Duration = { .sinceStart }) {
        state = Mutex(State(ring: EventRing(limits: limits)))
        boot = RandomText.hex(bytes: 6)
        self.now = now
    }

    // MARK: Telling

    /// Adds an event for a session, or with `nil` for everybody.
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

    /// Replaces the newest progress of a session, or with `nil` of all.
    func publish(progress bytes: [UInt8], session: String?) {
        let clients = state.withLock { state in
            state.lastProgress += 1
            state.progress[session] = (state.lastProgress, bytes)
            return state.clients.values.filter { $0.session == session }
        }
        for client in clients { client.wake.yield() }
    }

    /// More has changed than can be told one by one: everybody begins anew.
    func forget() {
        let clients = state.withLock { state in
            state.ring.forget()
            return Array(state.clients.values)
        }
        for client in clients { client.wake.yield() }
    }

    /// Lets old events go, and wakes everybody for a sign of life.
    func tick() {
        let time = now()
        let clients = state.withLock { state in
            state.ring.trim(at: time)
            return Array(state.clients.values)
        }
        for client in clients { client.wake.yield() }
    }

    /// Whether anybody follows, or could come back and ask for what he missed.
    var isFollowed: Bool {
        let time = now()
        return state.withLock { state in
            !state.clients.isEmpty || state.lastSeen.map { $0 + state.ring.limits.age > time } ?? false
        }
    }

    /// For whom progress is to be told: sessions that are followed, `nil` among them for all; and how often somebody has
    /// entered, as who is new knows nothing yet.
    var following: (sessions: Set<String?>, entrances: Int) {
        state.withLock { (Set($0.clients.values.map(\.session)), $0.entrances) }
    }

    /// All streams end.
    package func close() {
        let clients = state.withLock { state in
            state.isClosed = true
            return Array(state.clients.values)
        }
        for client in clients { client.wake.yield() }
    }

    // MARK: Following

    /// The id of the newest event.
    package var lastID: EventID { EventID(boot: boot, number: state.withLock { $0.ring.last }) }

    /// Somebody follows a session, or all; `isAttached` when this is what the session's app does.
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

    /// How many follow a session as its app does.
    func clients(of session: String) -> Int { state.withLock { $0.attached[session] ?? 0 } }

    /// How many events are held.
    var heldEvents: Int { state.withLock { $0.ring.count } }

    /// How many follow anything.
    package var clientCount: Int { state.withLock { $0.clients.count } }

    func whenClientsChange(_ tell: @escaping @Sendable (String) -> Void) { onAttach.withLock { $0 = tell } }

    /// Where a client goes on that has seen this id last; `nil` when it must begin anew.
    func cursor(after id: EventID?) -> Int64? {
        guard let id, id.boot == boot else { return nil }
        return state.withLock { $0.ring.reaches(id.number) ? id.number : nil }
    }

    /// What is new for this client; moves its cursors on. `progress` begins at the client's `firstProgress`.
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
    /// Monotonic time.
    static var sinceStart: Duration { ContinuousClock.now - origin }
    private static let origin = ContinuousClock.now
}
