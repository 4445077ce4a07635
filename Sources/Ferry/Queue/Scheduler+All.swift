import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// What users do with many downloads at once.
extension Scheduler {
    /// Pauses everything that has not ended.
    func pauseAll() async throws(DownloadError) {
        let store = try await opened()
        let kinds = StateKind.waiting.union([.downloading, .verifying])
        let entries = try await store.load().filter { kinds.contains($0.kind) }
        // Those that nobody looks at leave the queue together; first, so that none starts in the place of one that stops.
        let (quiet, others) = state.withLock { state in
            var quiet: [DownloadID] = []
            var others: [LiveDownload] = []
            for entry in entries {
                if let live = state.live[entry.id]?.live {
                    others.append(live)
                    if state.runs[entry.id] == nil { state.leave(entry.id) }
                } else if state.runs[entry.id] == nil {
                    state.leave(entry.id)
                    quiet.append(entry.id)
                }
            }
            return (quiet, others)
        }
        if !quiet.isEmpty {
            try await store.commit(quiet.map { .update($0, [.state(.paused)]) })
            if hub.isHeard { for id in quiet { send(.paused, of: id) } }
            list.tell { ListChange(changed: Set(quiet)) }
        }
        await withTaskGroup(of: Void.self) { group in
            for live in others { group.addTask { _ = await self.pause(live) } }
        }
    }

    /// Lets every paused one go on, in the order of the list.
    func resumeAll() async throws(DownloadError) {
        let store = try await opened()
        var offset = 0
        let page = 1000
        var joined: Set<DownloadID> = []
        while true {
            let rows = try await store.page(RowFilter(kinds: [.paused]), offset: offset, limit: page)
            var changes: [StoreChange] = []
            var entries: [(CatalogueRow, QueueKey)] = []
            for row in rows where !joined.contains(row.id) {
                joined.insert(row.id)
                if let live = known(row.id) {
                    _ = await resume(live)
                    continue
                }
                let key = state.withLock { $0.takeKey(DownloadPriority(rawValue: row.key.priority)) }
                entries.append((row, key))
                changes.append(.keys([StoreChange.KeyChange(row.id, key)]))
                changes.append(.update(row.id, [.state(.waiting(.slot)), .attempts(0, retryAt: nil)]))
            }
            if !changes.isEmpty {
                try await store.commit(changes)
                for (row, key) in entries {
                    let host = row.request.sources.first?.host
                    let isNear = await isNear(host)
                    state.withLock { state in
                        state.enter(
                            row.id, key: key, rule: row.request.network, isNear: isNear, until: nil, host: host)
                    }
                }
                list.tell { ListChange(changed: Set(entries.map(\.0.id)), isReordered: true) }
            } else {
                offset += rows.count
            }
            turnOver()
            if rows.isEmpty { return }
        }
    }

    /// Takes those that have ended so off the list.
    func clear(_ filter: ClearFilter, deletingFiles: Bool) async throws(DownloadError) {
        let store = try await opened()
        let ids = try await store.load().filter { filter.kinds.contains($0.kind) }.map(\.id)
        if !deletingFiles {
            let quiet = state.withLock { state in ids.filter { state.live[$0]?.live == nil && state.runs[$0] == nil } }
            let rows = filter.kinds.contains(.failed) ? try await store.rows(quiet) : []
            for row in rows where row.state.isFailed { await discardParts(of: row) }
            try await forget(quiet)
        }
        for id in ids {
            guard let row = try await store.row(id), filter.kinds.contains(StateKind(row.state)) else { continue }
            try await remove(live(for: row), deletingFile: deletingFiles)
        }
    }

    /// Takes downloads that nobody looks at off the list.
    private func forget(_ ids: [DownloadID]) async throws(DownloadError) {
        guard !ids.isEmpty, let (store, vault) = state.withLock({ s in s.store.map { ($0, s.vault) } }) else { return }
        try await store.commit([.remove(ids)])
        await vault.remove(ids)
        state.withLock { state in
            for id in ids {
                state.listed.remove(id)
                state.leave(id)
            }
        }
        list.tell { ListChange(removed: Set(ids)) }
    }

    private func discardParts(of row: CatalogueRow) async {
        guard let path = row.path else { return }
        let environment = engine.environment(for: configuration)
        await environment.pool.run {
            DownloadDriver.discard(path: path, id: row.id, fileSystem: environment.fileSystem)
        }
    }
}

extension DownloadState {
    var isFailed: Bool { if case .failed = self { true } else { false } }
}
