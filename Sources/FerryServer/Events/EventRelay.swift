import Ferry
import FerryAPI
import FerryCore
import Logging
import ServiceLifecycle

/// Passes the manager's states, events, progress and network changes on to the broadcaster.
struct EventRelay: Sendable {
    let manager: DownloadManager
    let broadcaster: EventBroadcaster
    let speeds: SpeedHistory
    /// Notified when the list changes, as a download may then be running.
    let updates: AsyncEvent
    let logger: Logger
    /// Called for each event before a client can acknowledge it. `isEarlier` is true for events from before the
    /// daemon started.
    let heard: @Sendable (_ event: DownloadEvent, _ session: String, _ isEarlier: Bool) async -> Void

    /// With more changes than this at once, clients get a snapshot instead.
    static let mostChanges = 2000

    /// The manager's streams, subscribed to before clients can connect.
    struct Feeds: Sendable {
        let list: ListChanges
        let events: AsyncStream<DownloadEvent>
        let network: AsyncStream<NetworkStatus>
        /// The highest event number from before the daemon started.
        let lastPending: Int64
    }

    func feeds() async throws(DownloadError) -> Feeds {
        var last: Int64 = 0
        while let page = try? await manager.pendingEvents(after: last), let newest = page.last { last = newest.number }
        return Feeds(
            list: manager.listChanges, events: manager.events, network: manager.networkChanges, lastPending: last)
    }

    /// Relays until the manager shuts down.
    func run(_ feeds: Feeds) async {
        await withDiscardingTaskGroup { group in
            group.addTask { for await change in feeds.list { await tell(change) } }
            group.addTask { for await event in feeds.events { await tell(event, feeds.lastPending) } }
            group.addTask {
                var isFirst = true
                for await status in feeds.network {
                    if !isFirst { broadcaster.publish(.network(status), session: nil) }
                    isFirst = false
                }
            }
        }
    }

    // MARK: List

    private func tell(_ change: ListChange) async {
        updates.notify()
        guard broadcaster.isFollowed else { return broadcaster.forget() }
        let ids = Array(change.added.union(change.changed))
        let moved = Array(change.moved.subtracting(ids))
        guard ids.count + moved.count + change.removed.count <= Self.mostChanges else { return broadcaster.forget() }
        var reordered: Set<String> = []
        for start in stride(from: 0, to: ids.count, by: 200) {
            let some = Array(ids[start..<min(ids.count, start + 200)])
            let revision = DownloadManager.nextRevision()
            for row in (try? await manager.rows(some)) ?? [] {
                broadcaster.publish(.state(manager.listed(row, revision: revision)), session: row.session)
                if change.moved.contains(row.id) { reordered.insert(row.session) }
            }
        }
        // Each session learns of its own downloads only.
        for (session, ids) in Dictionary(grouping: change.removedFrom.keys, by: { change.removedFrom[$0] ?? "" }) {
            broadcaster.publish(.removed(ids.map(\.rawValue).sorted()), session: session)
        }
        for row in (try? await manager.rows(moved)) ?? [] { reordered.insert(row.session) }
        for session in reordered { broadcaster.publish(.order, session: session) }
    }

    // MARK: Events

    private func tell(_ event: DownloadEvent, _ lastPending: Int64) async {
        updates.notify()
        // A download that is neither named with its session nor listed any more is no client's to hear of.
        guard let session = await session(of: event) else { return }
        // Each client receives earlier final events when it connects.
        let isEarlier = event.number.map { $0 <= lastPending } ?? false
        await heard(event, session, isEarlier)
        if !isEarlier, broadcaster.isFollowed {
            broadcaster.publish(.happened(EventBody(event, session: session)), session: session, ending: event.number)
        }
    }

    private func session(of event: DownloadEvent) async -> String? {
        if let session = event.session, !session.isEmpty { return session }
        return try? await manager.rows([event.id]).first?.session
    }

    // MARK: Progress

    /// Publishes the progress of running downloads ten times a second while there are any.
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
        guard !moved.isEmpty else { return }
        for session in sessions {
            let own = moved.lazy.filter { session == nil || $0.session == session }.map(\.status)
            if own.isEmpty { continue }
            let batch = own.map { StreamEvent.Progress(id: $0.id.rawValue, progress: $0.progress) }
            guard let event = try? StreamEvent.progress(Array(batch)).sent(id: nil) else { continue }
            broadcaster.publish(progress: Array(event.text.utf8), session: session)
        }
    }
}

/// Selects the running downloads whose progress has changed since the last call, or all if a client has connected
/// since. Pure.
struct ProgressNews: Sendable {
    private var told: [DownloadID: DownloadProgress] = [:]
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

    /// Forgets all reported progress; called when no download is running.
    mutating func clear() { told = [:] }
}
