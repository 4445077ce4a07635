import FerryCore
import FerryEngine
import Synchronization

/// Changes of many held downloads, each in one transaction. Those that have neither failed nor are returned are changed.
extension Scheduler {
    /// Returns the downloads that must be changed one by one.
    func batch(
        _ action: BulkAction, _ entries: [IndexEntry], in store: any DownloadStore, into result: inout BulkResult
    ) async throws(DownloadError) -> [IndexEntry] {
        switch action {
        case .pause: try await park(entries, in: store)
        case .resume: try await join(entries, in: store)
        case .cancel:
            try await discardParts(of: entries, in: store)
            try await end(entries, in: store)
        case .remove(let deletes, _):
            let failures = deletes ? try await deleteFiles(of: entries, in: store) : [:]
            let gone = entries.filter { failures[$0.id] == nil }
            try await forget(gone, in: store)
            result.failures.merge(failures) { $1 }
            result.changed.formUnion(gone.map(\.id))
            return []
        case .change(let change): return try await amend(change, entries, in: store, into: &result)
        case .restart: return entries
        }
        result.changed.formUnion(entries.map(\.id))
        return []
    }

    private func park(_ entries: [IndexEntry], in store: any DownloadStore) async throws(DownloadError) {
        try await store.commit(
            entries.map { entry in
                .update(entry.id, [entry.kind == .failed ? .attempts(0, retryAt: nil) : .state(.paused)])
            })
        park(entries)
        let events = log.isHeard ? entries.filter { $0.kind != .failed }.map { event(.paused, of: $0) } : []
        log.append(ListChange(changed: Set(entries.map(\.id))), events)
    }

    private func park(_ entries: [IndexEntry]) {
        state.withLock { state in for entry in entries { state.queue.take(.rest(.parked), of: entry.id) } }
    }

    private func event(_ kind: DownloadEvent.Kind, of entry: IndexEntry, number: Int64? = nil) -> DownloadEvent {
        event(kind, of: entry.id, date: clock.date(), number: number, session: entry.session)
    }

    /// Queues downloads behind the others of their priority, in this order.
    private func join(_ entries: [IndexEntry], in store: any DownloadStore) async throws(DownloadError) {
        let now = clock.date()
        var changes: [StoreChange] = []
        var joining: [(IndexEntry, QueueEntry.Rest)] = []
        for var entry in entries {
            // For a failed download that is the time of its retry.
            let notBefore = entry.kind == .failed ? nil : entry.wakeAt.flatMap { $0 > now ? $0 : nil }
            entry.key = state.withLock { $0.queue.takeKey(DownloadPriority(rawValue: entry.key.priority)) }
            joining.append((entry, rest(until: notBefore)))
            let reason = notBefore.map { WaitReason.notBefore($0) } ?? .slot
            changes.append(.keys([StoreChange.KeyChange(entry.id, entry.key)]))
            changes.append(.update(entry.id, [.state(.waiting(reason)), .attempts(0, retryAt: nil)]))
        }
        try await store.commit(changes)
        state.withLock { state in for (entry, rest) in joining { state.enter(entry, as: rest) } }
        log.append(ListChange(changed: Set(entries.map(\.id)), moved: Set(entries.map(\.id))))
        startHeartbeat()
    }

    // MARK: Ending

    /// Deletes the part files and journals of downloads that are not over; before the list is written, which may need
    /// the space.
    private func discardParts(of entries: [IndexEntry], in store: any DownloadStore) async throws(DownloadError) {
        for row in try await rows(of: entries.filter { !$0.kind.isOver }, in: store) {
            guard let path = row.path else { continue }
            await withFiles(within: row.request.root) {
                DownloadDriver.discard(path: path, id: row.id, fileSystem: $0)
            }
        }
    }

    /// The rows of those that have a path, and may so have files.
    private func rows(
        of entries: [IndexEntry], in store: any DownloadStore
    ) async throws(DownloadError) -> [CatalogueRow] {
        if entries.isEmpty { return [] }
        return try await store.page(RowFilter(ids: Set(entries.map(\.id)), hasPath: true), offset: 0, limit: .max)
    }

    /// Stores and reports that downloads without parts are cancelled; with `thenRemove`, also that they leave the list.
    private func end(
        _ entries: [IndexEntry], in store: any DownloadStore, thenRemove: [IndexEntry] = []
    ) async throws(DownloadError) {
        let isKept = configuration.storage.isKept
        let ending = Ending(.cancelled, at: clock.date(), isNumbered: isKept)
        let removal = thenRemove.isEmpty ? [] : [StoreChange.remove(thenRemove.map(\.id))]
        let events = try await store.commit(entries.map { StoreChange.end($0.id, ending) } + removal)
        let numbers = Dictionary(events.map { ($0.event.id, $0.number) }) { first, _ in first }
        if isKept { await vault.remove((entries + thenRemove).map(\.id)) }
        park(entries)
        log.append(
            ListChange(changed: Set(entries.map(\.id))),
            entries.map { event(.cancelled, of: $0, number: numbers[$0.id]) })
    }

    /// Cancels downloads that have not ended, and removes all from the list.
    private func forget(_ entries: [IndexEntry], in store: any DownloadStore) async throws(DownloadError) {
        if entries.isEmpty { return }
        try await discardParts(of: entries, in: store)
        try await end(entries.filter { !$0.kind.isFinal }, in: store, thenRemove: entries)
        state.withLock { state in for entry in entries { state.queue.take(.remove, of: entry.id) } }
        log.append(ListChange(removed: Dictionary(entries.map { ($0.id, $0.session) }) { first, _ in first }))
    }

    /// Deletes published files that are unchanged. Returns the errors.
    private func deleteFiles(
        of entries: [IndexEntry], in store: any DownloadStore
    ) async throws(DownloadError) -> [DownloadID: DownloadError] {
        var failures: [DownloadID: DownloadError] = [:]
        for row in try await rows(of: entries, in: store) {
            do throws(DownloadError) { try await deleteFile(of: row) } catch { failures[row.id] = error }
        }
        return failures
    }

    // MARK: Changing

    /// Changes requests without secrets. Returns the downloads whose requests have secrets.
    private func amend(
        _ change: RequestChange, _ entries: [IndexEntry], in store: any DownloadStore, into result: inout BulkResult
    ) async throws(DownloadError) -> [IndexEntry] {
        if change.request.hasSecrets { return entries }
        var left: [IndexEntry] = []
        var changes: [StoreChange] = []
        var changed: [(entry: IndexEntry, request: DownloadRequest)] = []
        var moved: Set<DownloadID> = []
        let rows = Dictionary(try await store.rows(entries.map(\.id)).map { ($0.id, $0) }) { first, _ in first }
        for var entry in entries {
            guard let row = rows[entry.id], !row.hasSecrets else {
                left.append(entry)
                continue
            }
            let old = row.request(with: nil)
            var wish = old
            change.apply(to: &wish)
            do throws(DownloadError) {
                let request = try old.amended(to: wish)
                guard Secrets(of: request) == nil else {
                    left.append(entry)
                    continue
                }
                var fields: [RowField] = [.request(request.stored, hasSecrets: false)]
                if request.label != old.label { fields.append(.label(request.label)) }
                if request.userInfo != old.userInfo { fields.append(.userInfo(request.userInfo)) }
                changes.append(.update(entry.id, fields))
                if request.priority != old.priority {
                    entry.key = state.withLock { $0.queue.takeKey(request.priority) }
                    moved.insert(entry.id)
                    changes.append(.keys([StoreChange.KeyChange(entry.id, entry.key)]))
                }
                changed.append((entry, request))
            } catch { result.failures[entry.id] = error }
        }
        try await store.commit(changes)
        state.withLock { state in
            for (entry, request) in changed {
                state.queue.set(key: entry.key, of: entry.id)
                state.queue.set(
                    request.network, host: state.host(of: request), origin: request.site, of: entry.id)
            }
        }
        result.changed.formUnion(changed.map(\.entry.id))
        log.append(ListChange(changed: Set(changed.map(\.entry.id)), moved: moved))
        return left
    }
}
