import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// Reading the list.
extension Scheduler {
    func downloads(offset: Int, limit: Int) async throws(DownloadError) -> [LiveDownload] {
        let store = try await opened()
        return try await lives(in: store) { () async throws(DownloadError) in
            try await store.page(.all, offset: offset, limit: limit)
        }
    }

    func download(_ id: DownloadID) async throws(DownloadError) -> LiveDownload? {
        let store = try await opened()
        return try await live(id, in: store)
    }

    func downloads(of url: DownloadURL) async throws(DownloadError) -> [LiveDownload] {
        let (store, text) = (try await opened(), url.with(nil).text)
        return try await lives(in: store) { () async throws(DownloadError) in try await store.rows(url: text) }
    }

    /// The object of a listed download.
    func live(_ id: DownloadID, in store: any DownloadStore) async throws(DownloadError) -> LiveDownload? {
        if let live = known(id) { return live }
        return try await lives(in: store) { () async throws(DownloadError) in try await store.rows([id]) }.first
    }

    /// The objects of the rows that `read` returns; rows that changed meanwhile are read again.
    private func lives(
        in store: any DownloadStore, _ read: () async throws(DownloadError) -> [CatalogueRow]
    ) async throws(DownloadError) -> [LiveDownload] {
        let reader = readers.begin()
        defer { readers.end(reader) }
        var rows = try await read()
        while true {
            let (found, old, isHeld): ([LiveDownload], Set<DownloadID>, Bool) = state.withLock { state in
                let changed = readers.changes(for: reader).union(state.held)
                let old =
                    changed.isEmpty
                    ? []
                    : rows.map(\.id).filter {
                        changed.contains($0) && registry[$0] == nil
                    }
                guard old.isEmpty else { return ([], Set(old), !state.held.isDisjoint(with: old)) }
                let all = rows.map { row in
                    live(for: row.id, &state) { object(of: row, nil) }
                }
                return (all, [], false)
            }
            if old.isEmpty { return found }
            if isHeld {
                // The bulk change holds this lock until its rows are stored.
                await listLock.acquire()
                listLock.release()
            }
            let new = try await store.rows(Array(old))
            let byID = Dictionary(new.map { ($0.id, $0) }) { first, _ in first }
            rows = rows.compactMap { old.contains($0.id) ? byID[$0.id] : $0 }
        }
    }

    func count() async throws(DownloadError) -> Int { try await opened().count(.all) }

    func storageReport() async throws(DownloadError) -> StorageReport {
        guard case .catalogue(_, let directory, _) = configuration.storage else {
            return try await storageReport(session: nil, directory: nil)
        }
        return try await storageReport(session: nil, directory: directory)
    }

    /// The report of one session, or with `nil` of all; orphaned part files are searched in `directory`.
    func storageReport(session: String?, directory: String?) async throws(DownloadError) -> StorageReport {
        let totals = try await opened().totals(session: session)
        var report = StorageReport()
        for (kind, bytes) in totals.bytes {
            switch kind {
            case .completed: report.finishedBytes = report.finishedBytes.adding(bytes)
            case .cancelled: break
            default: report.partBytes = report.partBytes.adding(bytes)
            }
        }
        guard let directory else { return report }
        let environment = engine.environment(for: configuration)
        let listed = state.withLock { $0.listed }
        let orphans = await environment.pool.run {
            PartFiles.all(in: directory, fileSystem: environment.fileSystem) { found in
                listed.contains(DownloadID(rawValue: found.record.id))
                    ? nil : (part: found.part, bytes: found.claimedBytes)
            }
        }
        report.orphanedParts = orphans.map(\.part)
        report.orphanedBytes = orphans.map(\.bytes).sum
        return report
    }

    // MARK: Events

    /// All events, beginning with unacknowledged ends of earlier runs.
    var events: AsyncStream<DownloadEvent> { stream(hub.listen(backlog: backlog)) }

    /// As ``events``, with a marker after the last unacknowledged end of earlier runs.
    func listen() -> EventHub.Place { hub.listen(backlog: backlog ?? { [] }) }

    /// Reads unacknowledged ends once the list is open; `nil` if events are not kept.
    private var backlog: (@Sendable () async -> [DownloadEvent]?)? {
        guard configuration.storage.isKept else { return nil }
        return { [weak self] in
            guard let store = await self?.whenOpen() else { return nil }
            var events: [DownloadEvent] = []
            while let page = try? await store.pendingEvents(after: events.last?.number ?? 0, limit: 1000),
                !page.isEmpty
            {
                guard let self else { return nil }
                events += page.map {
                    self.event(
                        $0.event.kind, of: $0.event.id, date: $0.event.date, number: $0.number, session: $0.session)
                }
            }
            return events
        }
    }

    /// The store once it is open; `nil` if it will not open.
    private func whenOpen() async -> (any DownloadStore)? {
        while true {
            let seen = updates.count
            let (phase, store) = state.withLock { ($0.phase, $0.store) }
            switch phase {
            case .open: return store
            case .closing, .closed: return nil
            case .idle: await updates.wait(after: seen)
            }
            if Task.isCancelled { return nil }
        }
    }

    /// Running downloads that have reported their start, so that progress may be reported.
    var moving: Set<DownloadID> {
        state.withLock { state in Set(state.runs.lazy.filter(\.value.hasBegun).map(\.key)) }
    }

    func set(dispatcher: DelegateDispatcher?) { state.withLock { $0.dispatcher = dispatcher } }
}
