import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// User actions on many downloads at once.
extension Scheduler {
    /// Pauses all downloads that have not ended; of one session, or with `nil` of all.
    func pauseAll(session: String?) async throws(DownloadError) {
        let store = try await opened()
        let reader = readers.begin()
        defer { readers.end(reader) }
        let kinds = StateKind.waiting.union([.downloading, .verifying])
        let all = try await entries(of: session, in: store)
        // Automatic retries of failed downloads are cancelled too.
        let failed = Set(all.lazy.filter { $0.kind == .failed && $0.wakeAt != nil }.map(\.id))
        let meant = all.filter { kinds.contains($0.kind) || failed.contains($0.id) }.map(\.id)
        // Remove waiting downloads from the queue first, so that none starts in a slot that a pause frees.
        let singly = try await together(meant, since: reader) {
            (ids: [DownloadID]) async throws(DownloadError) -> [(DownloadID, QueueSpot)] in
            let changes = ids.map { id in
                let field: RowField = failed.contains(id) ? .attempts(0, retryAt: nil) : .state(.paused)
                return StoreChange.update(id, [field])
            }
            try await store.commit(changes)
            let paused = ids.filter { !failed.contains($0) }
            if hub.isHeard { for id in paused { send(.paused, of: id) } }
            list.tell { ListChange(changed: Set(ids)) }
            return []
        }
        var lives: [LiveDownload] = []
        for id in singly { if let live = try await live(id, in: store) { lives.append(live) } }
        let waiting = state.withLock { state in
            let waiting = lives.filter { state.runs[$0.id] == nil && !$0.request.isStream }
            for live in waiting { state.leave(live.id) }
            return waiting
        }
        let given = waiting.filter(\.current.isFailed)
        if !given.isEmpty { store.submit(given.map { .update($0.id, [.attempts(0, retryAt: nil)]) }) }
        _ = await lives.concurrently { await self.pause($0) }
        reschedule()
    }

    private func entries(
        of session: String?, in store: any DownloadStore
    ) async throws(DownloadError) -> [IndexEntry] {
        let all = try await store.load()
        guard session != nil else { return all }
        let own = Set(try await store.identifiers(RowFilter(session: session)))
        return all.filter { own.contains($0.id) }
    }

    /// Resumes all paused downloads in the order of the list; of one session, or with `nil` of all.
    func resumeAll(session: String?) async throws(DownloadError) {
        let store = try await opened()
        var offset = 0
        var seen: Set<DownloadID> = []
        let reader = readers.begin()
        defer { readers.end(reader) }
        while true {
            _ = readers.changes(for: reader)
            let rows = try await store.page(RowFilter(kinds: [.paused], session: session), offset: offset, limit: 1000)
            let changed = readers.changes(for: reader)
            if rows.isEmpty { return }
            var quiet: [CatalogueRow] = []
            for row in rows {
                guard seen.insert(row.id).inserted else {
                    // The download stayed paused.
                    offset += 1
                    continue
                }
                var live = known(row.id)
                if live == nil, changed.contains(row.id) {
                    live = try await self.live(row.id, in: store)
                    if live == nil { continue }
                }
                if let live {
                    try await join(quiet, since: reader, in: store)
                    quiet = []
                    _ = await resume(live)
                } else {
                    quiet.append(row)
                }
            }
            try await join(quiet, since: reader, in: store)
        }
    }

    /// Queues paused downloads without objects behind the others of their priority, in this order.
    private func join(
        _ rows: [CatalogueRow], since reader: Int, in store: any DownloadStore
    ) async throws(DownloadError) {
        guard !rows.isEmpty else { return }
        let now = clock.date()
        let wishes = Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0) })
        let singly = try await together(rows.map(\.id), since: reader) {
            (ids: [DownloadID]) async throws(DownloadError) -> [(DownloadID, QueueSpot)] in
            var changes: [StoreChange] = []
            var spots: [(DownloadID, QueueSpot)] = []
            for row in ids.compactMap({ wishes[$0] }) {
                let notBefore = row.request.notBefore.flatMap { $0 > now ? $0 : nil }
                let key = state.withLock { $0.takeKey(DownloadPriority(rawValue: row.key.priority)) }
                let spot = QueueSpot(
                    key, row.request.network, until: notBefore.map { moment(of: $0) },
                    host: row.request.sources.first?.host, session: row.session)
                spots.append((row.id, spot))
                changes.append(.keys([StoreChange.KeyChange(row.id, key)]))
                let reason = notBefore.map { WaitReason.notBefore($0) } ?? .slot
                changes.append(.update(row.id, [.state(.waiting(reason)), .attempts(0, retryAt: nil)]))
            }
            try await store.commit(changes)
            return spots
        }
        list.tell { ListChange(changed: Set(rows.map(\.id)), isReordered: true) }
        for id in singly { if let live = try await live(id, in: store) { _ = await resume(live) } }
        reschedule()
        showStandings(of: rows.compactMap { known($0.id) })
    }

    /// Changes many downloads in one transaction. Returns those that must be changed one by one, because they have an
    /// object, are running, or have changed since `reader` began.
    ///
    /// The others leave the queue, and no objects are created for them until `change` has stored the result; `change`
    /// returns the spots of those that are queued afterwards. If `change` throws, the former spots are restored.
    private func together(
        _ ids: [DownloadID], since reader: Int,
        _ change: ([DownloadID]) async throws(DownloadError) -> [(DownloadID, QueueSpot)]
    ) async throws(DownloadError) -> [DownloadID] {
        await listLock.acquire()
        defer { listLock.release() }
        var (quiet, singly): ([DownloadID], [DownloadID]) = ([], [])
        var spots: [(DownloadID, QueueSpot)] = []
        state.withLock { state in
            for id in ids {
                guard registry[id] == nil, state.runs[id] == nil, !readers.hasChanged(id, since: reader) else {
                    singly.append(id)
                    continue
                }
                if let spot = state.spot(of: id) {
                    spots.append((id, spot))
                    state.leave(id)
                }
                quiet.append(id)
            }
            state.held = Set(quiet)
        }
        guard !quiet.isEmpty else { return singly }
        var failure: DownloadError?
        do throws(DownloadError) { spots = try await change(quiet) } catch { failure = error }
        // Concurrent readers of these rows must read them again.
        readers.note(quiet)
        state.withLock { state in
            state.held = []
            for (id, spot) in spots { state.enter(id, at: spot) }
        }
        if let failure {
            reschedule()
            throw failure
        }
        return singly
    }

    /// Removes ended downloads of these kinds from the list; of one session, or with `nil` of all.
    func clear(
        _ filter: ClearFilter, deletingFiles: Bool, session: String?
    ) async throws(DownloadError) {
        let store = try await opened()
        let reader = readers.begin()
        defer { readers.end(reader) }
        let entries = try await entries(of: session, in: store).filter { filter.kinds.contains($0.kind) }
        let singly = deletingFiles ? entries.map(\.id) : try await forget(entries, since: reader, in: store)
        for id in singly {
            guard let live = try await live(id, in: store) else { continue }
            do throws(DownloadError) {
                try await remove(live, deletingFile: deletingFiles, ifIn: filter.kinds)
            } catch {
                // Another file has the name; keep the file, and remove the download all the same.
                guard error.code == .conflict else { throw error }
                try await remove(live, deletingFile: false, ifIn: filter.kinds)
            }
        }
    }

    /// Removes downloads without objects from the list; returns the others.
    private func forget(
        _ entries: [IndexEntry], since reader: Int, in store: any DownloadStore
    ) async throws(DownloadError) -> [DownloadID] {
        let failed = Set(entries.lazy.filter { $0.kind == .failed }.map(\.id))
        let vault = state.withLock { $0.vault }
        return try await together(entries.map(\.id), since: reader) {
            (ids: [DownloadID]) async throws(DownloadError) -> [(DownloadID, QueueSpot)] in
            let rows = try await store.rows(ids.filter { failed.contains($0) })
            await discardParts(of: rows)
            try await store.commit([.remove(ids)])
            await vault.remove(ids)
            state.withLock { $0.listed.subtract(ids) }
            list.tell { ListChange(removed: Set(ids)) }
            return []
        }
    }

    private func discardParts(of rows: [CatalogueRow]) async {
        guard !rows.isEmpty else { return }
        let environment = engine.environment(for: configuration)
        await environment.pool.run {
            for row in rows {
                guard let path = row.path else { continue }
                DownloadDriver.discard(
                    path: path, id: row.id, fileSystem: environment.fileSystem(within: row.request.root))
            }
        }
    }
}

extension DownloadState {
    var isFailed: Bool { if case .failed = self { true } else { false } }
}
