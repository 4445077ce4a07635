import FerryCore
import FerryEngine

/// User actions on many downloads at once.
///
/// Downloads without a run and without a handle are changed in one transaction (``batch(_:_:in:into:)``), the others one by
/// one, each as a batch of one.
extension Scheduler {
    /// Executes an action on the downloads `ids`, or on all downloads whose state permits it if `ids` is `nil`. Only downloads of
    /// `session` are affected, or of any session if it is `nil`. Throws if the list refuses the transaction; errors of single
    /// downloads are in the result.
    func perform(
        _ action: ListAction, on ids: [DownloadID]?, session: String?
    ) async throws(DownloadError) -> ListActionResult {
        let store = try await opened()
        var action = action
        if ids == nil, case .pause = action { action = .pause(stopsRetries: true) }
        let since = queue.stamp
        var result = ListActionResult()
        let filter = RowFilter(kinds: ids == nil ? action.kinds : nil, ids: ids.map(Set.init), session: session)
        let entries = try await entries(filter, ordered: ids, in: store)
        if let ids {
            let listed = Set(entries.map(\.id))
            for id in ids where !listed.contains(id) {
                result.failures[id] = DownloadError(.notFound, ErrorPhrase(.noDownload, ForeignText.quote(id.rawValue)))
            }
        }
        if case .resume(let triesServers) = action {
            if ids == nil, triesServers { result.changed = tryServersNow(session) }
            // Each download is queued behind the previous one.
            var rest = entries[...]
            while let first = rest.first {
                let isQuiet = isBatched(first, action)
                let some = Array(rest.prefix { isBatched($0, action) == isQuiet })
                rest = rest.dropFirst(some.count)
                let left = isQuiet ? try await together(some, action, since: since, in: store, &result) : some
                for id in left.map(\.id) { try await singly([id], action, in: store, &result) }
            }
        } else {
            let batched = entries.filter { isBatched($0, action) }
            let known = entries.filter { !isBatched($0, action) && isMeant($0, action) }
            let left = try await together(batched, action, since: since, in: store, &result)
            let ids = (left + known).map(\.id)
            // Change the downloads without a run first, because they would otherwise start in the slots of the running ones.
            let running = queue.running(among: ids)
            try await singly(ids.filter { !running.contains($0) }, action, in: store, &result)
            try await singly(ids.filter(running.contains), action, in: store, &result)
        }
        if case .change(let change) = action { await lookAtNetwork(for: [change.request.network]) }
        // An action on all downloads does not apply to downloads that have ended or left the list meanwhile.
        if ids == nil { result.failures = result.failures.filter { ![.wrongState, .notFound].contains($1.code) } }
        return result
    }

    /// Allows requests to the servers for which queued downloads wait. Returns these downloads, whose rows do not show that they
    /// wait for a server.
    private func tryServersNow(_ session: String?) -> Set<DownloadID> {
        let (ids, origins) = queue.waitingForServers(session)
        engine.started?.book.tryNow { origins.contains($0) }
        return ids
    }

    /// The index entries that match, in the order of the list or of `ids`, each once.
    private func entries(
        _ filter: RowFilter, ordered ids: [DownloadID]?, in store: any DownloadStore
    ) async throws(DownloadError) -> [IndexEntry] {
        let entries = try await store.load(filter)
        guard let ids else { return entries }
        var byID = Dictionary(entries.map { ($0.id, $0) }) { first, _ in first }
        return ids.compactMap { byID.removeValue(forKey: $0) }
    }

    private func isBatched(_ entry: IndexEntry, _ action: ListAction) -> Bool {
        known(entry.id) == nil && (action.isBatched(entry.kind) || isRetryToPause(entry, action))
    }

    private func isRetryToPause(_ entry: IndexEntry, _ action: ListAction) -> Bool {
        if case .pause(stopsRetries: true) = action { entry.kind == .failed && entry.wakeAt != nil } else { false }
    }

    /// Whether the action applies to a download. A pause of all downloads applies to a failed download only if the download will be
    /// retried.
    private func isMeant(_ entry: IndexEntry, _ action: ListAction) -> Bool {
        guard case .pause(stopsRetries: true) = action, entry.kind == .failed else { return true }
        return entry.wakeAt != nil
    }

    /// Changes downloads in one transaction. Returns the downloads that must be changed one by one, because they have a handle
    /// or a run, have changed since the stamp, or cannot be changed together with others.
    ///
    /// The other downloads are outside the queue, and no objects are created for them, until the result is stored and their
    /// states are set. If the list refuses the transaction, their states do not change.
    private func together(
        _ entries: [IndexEntry], _ action: ListAction, since: UInt64, in store: any DownloadStore,
        _ result: inout ListActionResult
    ) async throws(DownloadError) -> [IndexEntry] {
        await listLock.acquire()
        defer { listLock.release() }
        let (quiet, singly) = queue.holdQuiet(entries, since: since)
        guard !quiet.isEmpty else { return singly }
        defer {
            queue.endChange(quiet.map(\.id))
            updates.notify()
            reschedule()
            showStandings(of: quiet.compactMap { known($0.id) })
        }
        return singly + (try await batch(action, quiet, in: store, into: &result))
    }

    private func singly(
        _ ids: [DownloadID], _ action: ListAction, in store: any DownloadStore, _ result: inout ListActionResult
    ) async throws(DownloadError) {
        for start in stride(from: 0, to: ids.count, by: 1000) {
            let some = Array(ids[start..<min(ids.count, start + 1000)])
            let lives = try await lives(in: store) { () async throws(DownloadError) in try await store.rows(some) }
            let outcomes = await lives.concurrently { live in (live.id, await self.outcome(of: action, on: live)) }
            for (id, outcome) in outcomes {
                switch outcome {
                case .success(true): result.changed.insert(id)
                case .success(false): result.unchanged.insert(id)
                case .failure(let error): result.failures[id] = error
                }
            }
        }
    }

    private func outcome(of action: ListAction, on live: LiveDownload) async -> Result<Bool, DownloadError> {
        do throws(DownloadError) { return .success(try await act(action, on: live)) } catch { return .failure(error) }
    }

    /// Changes held downloads in one transaction. Returns the downloads that must be changed one by one; all others, except the
    /// failures, have been changed.
    private func batch(
        _ action: ListAction, _ entries: [IndexEntry], in store: any DownloadStore,
        into result: inout ListActionResult
    ) async throws(DownloadError) -> [IndexEntry] {
        let held = entries.map { HeldDownload($0) }
        switch action {
        case .pause: try await park(held)
        case .resume(let triesServers):
            // Only the names of their hosts are known without the rows.
            let hosts = triesServers ? Set(entries.map(\.host)) : []
            engine.started?.book.tryNow { hosts.contains($0.host) }
            try await enqueueTogether(held)
        case .cancel: try await cancel(held)
        case .remove(let deletes, _):
            let failures = deletes ? try await deleteFiles(of: held) : [:]
            let gone = held.filter { failures[$0.id] == nil }
            try await remove(gone)
            result.failures.merge(failures) { $1 }
            result.changed.formUnion(gone.map(\.id))
            return []
        case .change(let change): return try await amend(change, entries, in: store, into: &result)
        case .restart: return entries
        }
        result.changed.formUnion(entries.map(\.id))
        return []
    }

    // MARK: Changing

    /// Changes requests without secrets. Returns the downloads whose requests have secrets.
    private func amend(
        _ change: RequestChange, _ entries: [IndexEntry], in store: any DownloadStore,
        into result: inout ListActionResult
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
                    entry.key = queue.takeKey(request.priority)
                    moved.insert(entry.id)
                    changes.append(.keys([StoreChange.KeyChange(entry.id, entry.key)]))
                }
                changed.append((entry, request))
            } catch { result.failures[entry.id] = error }
        }
        try await store.commit(changes)
        let settings = configuration.transfer
        queue.set(changed.map { QueuePlace(id: $0.entry.id, key: $0.entry.key) })
        queue.set(changed.map { ($0.entry.id, QueueConditions(of: $0.request, through: settings)) })
        result.changed.formUnion(changed.map(\.entry.id))
        log.append(ListChange(changed: Set(changed.map(\.entry.id)), moved: moved))
        return left
    }

    // MARK: Ended ones

    /// Removes ended downloads of these kinds, of one session or of all sessions if it is `nil`, from the list. Returns the removed
    /// downloads. A removed download whose file was kept, because it is no longer the published file, is also reported as a
    /// failure.
    @discardableResult
    func clear(
        _ filter: ClearFilter, deletingFiles: Bool, session: String?
    ) async throws(DownloadError) -> ListActionResult {
        let kinds = filter.kinds
        var result = try await perform(.remove(deletingFiles: deletingFiles, ifIn: kinds), on: nil, session: session)
        // Another file has the name. Keep that file, but remove the download.
        let replaced = result.failures.filter { $1.code == .conflict }
        result.failures = result.failures.filter { $1.code != .conflict }
        if !replaced.isEmpty {
            let ids = Array(replaced.keys)
            let again = try await perform(.remove(deletingFiles: false, ifIn: kinds), on: ids, session: session)
            result.changed.formUnion(again.changed)
            // A download that has begun again or left the list meanwhile is not meant any more.
            result.failures.merge(again.failures.filter { ![.wrongState, .notFound].contains($1.code) }) { $1 }
        }
        if let error = result.failures.values.first { throw error }
        result.failures = replaced
        return result
    }
}

extension DownloadState {
    var isFailed: Bool { if case .failed = self { true } else { false } }
}

extension ClearFilter {
    package var kinds: Set<StateKind> {
        switch self {
        case .completed: [.completed]
        case .failed: [.failed]
        case .cancelled: [.cancelled]
        case .all: StateKind.final
        }
    }
}
