import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// User actions on many downloads at once.
extension Scheduler {
    /// Pauses all downloads that have not ended, except streams; of one session, or with `nil` of all. Throws the first
    /// error after an attempt to pause each.
    func pauseAll(session: String?) async throws(DownloadError) {
        let store = try await opened()
        let since = state.withLock { $0.queue.stamp }
        let kinds = StateKind.waiting.union([.downloading, .verifying])
        let all = try await entries(of: session, in: store)
        // Automatic retries of failed downloads are cancelled too.
        let failed = Set(all.lazy.filter { $0.kind == .failed && $0.wakeAt != nil }.map(\.id))
        let meant = all.filter { kinds.contains($0.kind) || failed.contains($0.id) }.map(\.id)
        // Remove waiting downloads from the queue first, so that none starts in a slot that a pause frees.
        let singly = try await together(meant, since: since) { (ids: [DownloadID]) async throws(DownloadError) in
            let changes = ids.map { id in
                let field: RowField = failed.contains(id) ? .attempts(0, retryAt: nil) : .state(.paused)
                return StoreChange.update(id, [field])
            }
            try await store.commit(changes)
            state.withLock { state in for id in ids { state.queue.take(.rest(.parked), of: id) } }
            let paused = ids.filter { !failed.contains($0) }
            if hub.isHeard { for id in paused { send(.paused, of: id) } }
            list.tell { ListChange(changed: Set(ids)) }
        }
        var lives: [LiveDownload] = []
        for id in singly {
            if let live = try await live(id, in: store), !live.request.isStream { lives.append(live) }
        }
        let waiting: [DownloadID: QueueEntry.Rest] = state.withLock { state in
            var waiting: [DownloadID: QueueEntry.Rest] = [:]
            for live in lives {
                guard case .resting(let rest)? = state.queue.listed(live.id)?.state else { continue }
                waiting[live.id] = rest
                state.queue.take(.rest(.parked), of: live.id)
            }
            return waiting
        }
        let given = lives.filter { waiting[$0.id] != nil && $0.current.isFailed }
        if !given.isEmpty { store.submit(given.map { .update($0.id, [.attempts(0, retryAt: nil)]) }) }
        let failures = await lives.concurrently { live in
            await self.failure(of: { () async throws(DownloadError) in try await self.pause(live) }).map {
                (live.id, $0)
            }
        }.compactMap(\.self)
        // A pause that the list refuses is none.
        for (id, _) in failures { if let rest = waiting[id] { self.rest(id, rest) } }
        reschedule()
        if let (_, error) = failures.first { throw error }
    }

    /// The error of an action on one of many downloads; `nil` also if the download ended or left the list before.
    private func failure(of action: () async throws(DownloadError) -> Void) async -> DownloadError? {
        do throws(DownloadError) { try await action() } catch {
            return error.code == .wrongState || error.code == .notFound ? nil : error
        }
        return nil
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
        while true {
            let since = state.withLock { $0.queue.stamp }
            let rows = try await store.page(RowFilter(kinds: [.paused], session: session), offset: offset, limit: 1000)
            if rows.isEmpty { return }
            var quiet: [CatalogueRow] = []
            for row in rows {
                guard seen.insert(row.id).inserted else {
                    // The download stayed paused.
                    offset += 1
                    continue
                }
                guard let live = known(row.id) else {
                    quiet.append(row)
                    continue
                }
                try await join(quiet, since: since, in: store)
                quiet = []
                if let error = await failure(of: { () async throws(DownloadError) in try await resume(live) }) {
                    throw error
                }
            }
            try await join(quiet, since: since, in: store)
        }
    }

    /// Queues paused downloads without objects behind the others of their priority, in this order.
    private func join(
        _ rows: [CatalogueRow], since: UInt64, in store: any DownloadStore
    ) async throws(DownloadError) {
        guard !rows.isEmpty else { return }
        let now = clock.date()
        let wishes = Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0) })
        let singly = try await together(rows.map(\.id), since: since) {
            (ids: [DownloadID]) async throws(DownloadError) in
            var changes: [StoreChange] = []
            var entries: [(IndexEntry, QueueEntry.Rest)] = []
            for row in ids.compactMap({ wishes[$0] }) {
                let notBefore = row.request.notBefore.flatMap { $0 > now ? $0 : nil }
                var entry = row.entry
                entry.key = state.withLock { $0.queue.takeKey(DownloadPriority(rawValue: row.key.priority)) }
                entries.append((entry, rest(until: notBefore)))
                changes.append(.keys([StoreChange.KeyChange(row.id, entry.key)]))
                let reason = notBefore.map { WaitReason.notBefore($0) } ?? .slot
                changes.append(.update(row.id, [.state(.waiting(reason)), .attempts(0, retryAt: nil)]))
            }
            try await store.commit(changes)
            state.withLock { state in for (entry, rest) in entries { state.enter(entry, as: rest) } }
        }
        list.tell { ListChange(changed: Set(rows.map(\.id)), isReordered: true) }
        for id in singly {
            guard let live = try await live(id, in: store) else { continue }
            if let error = await failure(of: { () async throws(DownloadError) in try await resume(live) }) {
                throw error
            }
        }
        reschedule()
        showStandings(of: rows.compactMap { known($0.id) })
    }

    /// Changes many downloads in one transaction. Returns those that must be changed one by one, because they have an
    /// object, are running, or have changed since that stamp.
    ///
    /// The others are outside of the queue, and no objects are created for them, until `change` has stored the result
    /// and set their states. If it throws, their states stay.
    private func together(
        _ ids: [DownloadID], since: UInt64, _ change: ([DownloadID]) async throws(DownloadError) -> Void
    ) async throws(DownloadError) -> [DownloadID] {
        await listLock.acquire()
        defer { listLock.release() }
        var (quiet, singly): ([DownloadID], [DownloadID]) = ([], [])
        state.withLock { state in
            for id in ids {
                guard let entry = state.queue.listed(id) else { continue }
                if registry[id] == nil, entry.state.run == nil, entry.stamp <= since {
                    state.queue.take(.hold, of: id)
                    quiet.append(id)
                } else {
                    singly.append(id)
                }
            }
        }
        guard !quiet.isEmpty else { return singly }
        defer {
            state.withLock { state in for id in quiet { state.queue.take(.settle, of: id) } }
            updates.notify()
            reschedule()
        }
        try await change(quiet)
        return singly
    }

    /// Removes ended downloads of these kinds from the list; of one session, or with `nil` of all.
    func clear(
        _ filter: ClearFilter, deletingFiles: Bool, session: String?
    ) async throws(DownloadError) {
        let store = try await opened()
        let since = state.withLock { $0.queue.stamp }
        let entries = try await entries(of: session, in: store).filter { filter.kinds.contains($0.kind) }
        let singly = deletingFiles ? entries.map(\.id) : try await forget(entries, since: since, in: store)
        for id in singly {
            guard let live = try await live(id, in: store) else { continue }
            do throws(DownloadError) {
                try await remove(live, deletingFile: deletingFiles, ifIn: filter.kinds)
            } catch {
                // Another file has the name; keep the file, but remove the download.
                guard error.code == .conflict else { throw error }
                try await remove(live, deletingFile: false, ifIn: filter.kinds)
            }
        }
    }

    /// Removes downloads without objects from the list; returns the others.
    private func forget(
        _ entries: [IndexEntry], since: UInt64, in store: any DownloadStore
    ) async throws(DownloadError) -> [DownloadID] {
        let failed = Set(entries.lazy.filter { $0.kind == .failed }.map(\.id))
        return try await together(entries.map(\.id), since: since) {
            (ids: [DownloadID]) async throws(DownloadError) in
            for row in try await store.rows(ids.filter { failed.contains($0) }) {
                guard let path = row.path else { continue }
                await withFiles(within: row.request.root) {
                    DownloadDriver.discard(path: path, id: row.id, fileSystem: $0)
                }
            }
            try await store.commit([.remove(ids)])
            await vault.remove(ids)
            state.withLock { state in for id in ids { state.queue.take(.remove, of: id) } }
            list.tell { ListChange(removed: Set(ids)) }
        }
    }
}

extension DownloadState {
    var isFailed: Bool { if case .failed = self { true } else { false } }
}

extension ClearFilter {
    fileprivate var kinds: Set<StateKind> {
        switch self {
        case .completed: [.completed]
        case .failed: [.failed]
        case .cancelled: [.cancelled]
        case .all: StateKind.final
        }
    }
}
