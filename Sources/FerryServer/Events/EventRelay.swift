import Ferry
import FerryAPI
import FerryCore
import Logging
import ServiceLifecycle

/// Forwards the manager's updates, in order, as well as network changes and progress, to the broadcaster.
///
/// Updates that have accumulated are forwarded together: the current state of the downloads, then the events, then the removals. So
/// a client receives the state that an event led to before the event itself. Rows are read from the catalogue only for downloads
/// that are not in memory, such as waiting downloads, or when many downloads change at once.
struct EventRelay: Sendable {
    let manager: DownloadManager
    let broadcaster: EventBroadcaster
    let speeds: SpeedHistory
    /// Notified when the list changes, because a download may then be running.
    let updates: AsyncEvent
    let logger: Logger
    /// Called for each event before a client can acknowledge it. `isEarlier` is true for events from before the
    /// daemon started.
    let heard: @Sendable (_ event: DownloadEvent, _ session: String, _ isEarlier: Bool) async -> Void

    /// The number of changes in one update beyond which clients get a snapshot instead.
    static let mostChanges = 2000

    /// The manager's streams, subscribed to before clients can connect.
    struct Feeds: Sendable {
        let updates: ListUpdates
        /// Unacknowledged final events from before the daemon started.
        let earlier: [DownloadEvent]
        let network: AsyncStream<NetworkStatus>
    }

    func feeds() async -> Feeds {
        // Subscribed before the final events are read, so that each final event is in at least one of the two.
        let updates = manager.updates
        return Feeds(
            updates: updates, earlier: await manager.unacknowledged(), network: manager.networkChanges)
    }

    /// Forwards updates until the manager shuts down.
    func run(_ feeds: Feeds) async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                // Each client receives these when it connects.
                for event in feeds.earlier {
                    if let session = await session(of: event) { await heard(event, session, true) }
                }
                let lastEarlier = feeds.earlier.last?.number ?? 0
                for await some in feeds.updates { await tell(some, lastEarlier) }
            }
            group.addTask {
                var isFirst = true
                for await status in feeds.network {
                    if !isFirst { broadcaster.publish(.network(status), session: nil) }
                    isFirst = false
                }
            }
        }
    }

    // MARK: Updates

    private func tell(_ some: ListUpdates.Element, _ lastEarlier: Int64) async {
        updates.notify()
        let change = some.change
        let shown = Array(change.added.union(change.changed))
        let moved = Array(change.moved.subtracting(shown))
        let isTold =
            broadcaster.isFollowed && shown.count + moved.count + change.removed.count <= Self.mostChanges
        var reordered: Set<String> = []
        if isTold {
            for start in stride(from: 0, to: shown.count, by: 200) {
                let ids = Array(shown[start..<min(shown.count, start + 200)])
                for listed in (try? await manager.listed(ids, hasHandle: true)) ?? [] {
                    broadcaster.publish(.state(listed), session: listed.session)
                    if change.moved.contains(listed.id) { reordered.insert(listed.session) }
                }
            }
        }
        for event in some.events where (event.number ?? .max) > lastEarlier {
            // An event whose session is unknown belongs to a download that is no longer listed, so no client receives it.
            guard let session = await session(of: event) else { continue }
            await heard(event, session, false)
            // Otherwise a snapshot follows, with all unacknowledged final events.
            if isTold {
                broadcaster.publish(
                    .happened(EventBody(event, session: session)), session: session, ending: event.number)
            }
        }
        guard isTold else { return broadcaster.forget() }
        // Each session receives only the removals of its own downloads.
        for (session, ids) in Dictionary(grouping: change.removedFrom.keys, by: { change.removedFrom[$0] ?? "" }) {
            broadcaster.publish(.removed(ids.map(\.rawValue).sorted(), asOf: some.position), session: session)
        }
        if let sessions = try? await manager.sessions(of: moved) { reordered.formUnion(sessions.values) }
        for session in reordered { broadcaster.publish(.order(asOf: some.position), session: session) }
    }

    private func session(of event: DownloadEvent) async -> String? {
        if let session = event.session, !session.isEmpty { return session }
        return try? await manager.sessions(of: [event.id])[event.id]
    }

    // MARK: Progress

    /// Publishes the progress of running downloads ten times a second, as long as there are any.
    func follow() async {
        var news = ProgressNews()
        var seen: UInt64 = 0
        while !Task.isCancelled {
            await updates.wait(after: seen)
            seen = updates.count
            while !Task.isCancelled {
                let running = manager.running
                if running.isEmpty { break }
                speeds.note(running.map(\.status), at: .sinceStart)
                tell(running, &news)
                try? await Task.sleep(for: .milliseconds(100))
            }
            news.clear()
        }
    }

    private func tell(_ running: [(status: DownloadStatus, session: String)], _ news: inout ProgressNews) {
        let (sessions, entrances) = broadcaster.following
        guard !sessions.isEmpty else { return }
        let moved = news.take(running, entrances: entrances)
        for session in sessions {
            let own = moved.lazy.filter { session == nil || $0.session == session }.map(\.status)
            let speed = manager.bytesPerSecond(of: session)
            if !news.take(speed: speed, of: session), own.isEmpty { continue }
            let batch = own.map { StreamEvent.Progress(id: $0.id.rawValue, progress: $0.progress) }
            guard let event = try? StreamEvent.progress(Array(batch), bytesPerSecond: speed).sent(id: nil) else {
                continue
            }
            broadcaster.publish(progress: Array(event.text.utf8), session: session)
        }
    }
}

/// Selects the running downloads whose progress has changed since the last call; all of them if a client has connected since. Pure.
struct ProgressNews: Sendable {
    private var told: [DownloadID: DownloadProgress] = [:]
    private var speeds: [String?: Int64] = [:]
    private var entrances = 0

    /// Returns the downloads to report and records their progress as reported.
    ///
    /// - Parameter entrances: The number of clients that have ever connected.
    mutating func take(
        _ running: [(status: DownloadStatus, session: String)], entrances: Int
    ) -> [(status: DownloadStatus, session: String)] {
        let isNew = entrances != self.entrances
        let moved = running.filter { isNew || told[$0.status.id] != $0.status.progress }
        told = Dictionary(running.map { ($0.status.id, $0.status.progress) }) { first, _ in first }
        self.entrances = entrances
        return moved
    }

    /// Records the speed of a session, or of all sessions if `session` is `nil`, as reported. Returns whether it has changed.
    mutating func take(speed: Double, of session: String?) -> Bool {
        let rounded = Int64(bytesPerSecond: speed)
        return speeds.updateValue(rounded, forKey: session) ?? 0 != rounded
    }

    /// Forgets all reported progress; called when no download is running.
    mutating func clear() { (told, speeds) = ([:], [:]) }
}
