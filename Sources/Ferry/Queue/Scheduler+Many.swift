import FerryAPI
package import FerryCore
import FerryEngine
import Synchronization

/// User actions on many downloads at once.
///
/// Those without a run and without a handle are changed in one transaction (``batch(_:_:in:into:)``), the others one by
/// one.
extension Scheduler {
    /// Executes an action on these downloads, or with `nil` on all whose state permits it; of one session, or with `nil`
    /// of any. Throws if the list refuses the transaction; errors of single downloads are in the result.
    func act(
        _ action: BulkAction, on ids: [DownloadID]?, session: String?
    ) async throws(DownloadError) -> BulkResult {
        let store = try await opened()
        var action = action
        if ids == nil, case .pause = action { action = .pause(stopsRetries: true) }
        let since = state.withLock { $0.queue.stamp }
        var result = BulkResult()
        let filter = RowFilter(kinds: ids == nil ? action.kinds : nil, ids: ids.map(Set.init), session: session)
        let entries = try await entries(filter, ordered: ids, in: store)
        if let ids {
            let listed = Set(entries.map(\.id))
            for id in ids where !listed.contains(id) {
                result.failures[id] = DownloadError(.notFound, ErrorPhrase(.noDownload, APIText.quote(id.rawValue)))
            }
        }
        if case .resume = action {
            // Each joins the queue behind the one before it.
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
            // Resting downloads first: otherwise they would start in the slots of those that run.
            let running = state.withLock { state in Set(ids.filter { state.queue.run(of: $0) != nil }) }
            try await singly(ids.filter { !running.contains($0) }, action, in: store, &result)
            try await singly(ids.filter(running.contains), action, in: store, &result)
        }
        if case .change(let change) = action { await lookAtNetwork(for: [change.request.network]) }
        // Those that ended or left the list meanwhile are not meant by an action on all.
        if ids == nil { result.failures = result.failures.filter { ![.wrongState, .notFound].contains($1.code) } }
        return result
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

    private func isBatched(_ entry: IndexEntry, _ action: BulkAction) -> Bool {
        known(entry.id) == nil && (action.isBatched(entry.kind) || isRetryToPause(entry, action))
    }

    private func isRetryToPause(_ entry: IndexEntry, _ action: BulkAction) -> Bool {
        if case .pause(stopsRetries: true) = action { entry.kind == .failed && entry.wakeAt != nil } else { false }
    }

    /// Whether the action is about a download: of failed ones, a pause of all is about those that are to be retried.
    private func isMeant(_ entry: IndexEntry, _ action: BulkAction) -> Bool {
        guard case .pause(stopsRetries: true) = action, entry.kind == .failed else { return true }
        return entry.wakeAt != nil
    }

    /// Changes downloads in one transaction. Returns those that must be changed one by one, because they have a handle
    /// or run, have changed since that stamp, or cannot be changed together with others.
    ///
    /// The others are outside of the queue, and no objects are created for them, until the result is stored and their
    /// states are set. If the list refuses, their states stay.
    private func together(
        _ entries: [IndexEntry], _ action: BulkAction, since: UInt64, in store: any DownloadStore,
        _ result: inout BulkResult
    ) async throws(DownloadError) -> [IndexEntry] {
        await listLock.acquire()
        defer { listLock.release() }
        var (quiet, singly): ([IndexEntry], [IndexEntry]) = ([], [])
        state.withLock { state in
            for entry in entries {
                guard let listed = state.queue.listed(entry.id) else { continue }
                if registry[entry.id] == nil, listed.state.run == nil, listed.stamp <= since {
                    state.queue.take(.hold, of: entry.id)
                    quiet.append(entry)
                } else {
                    singly.append(entry)
                }
            }
        }
        guard !quiet.isEmpty else { return singly }
        defer {
            state.withLock { state in for entry in quiet { state.queue.take(.settle, of: entry.id) } }
            updates.notify()
            reschedule()
            showStandings(of: quiet.compactMap { known($0.id) })
        }
        return singly + (try await batch(action, quiet, in: store, into: &result))
    }

    private func singly(
        _ ids: [DownloadID], _ action: BulkAction, in store: any DownloadStore, _ result: inout BulkResult
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

    /// Whether the action has changed the download, which otherwise was as it leaves it.
    private func outcome(of action: BulkAction, on live: LiveDownload) async -> Result<Bool, DownloadError> {
        let isPossible = live.current.actions.contains(action.single)
        do throws(DownloadError) {
            switch action {
            case .pause(stopsRetries: true) where live.current.isFailed && stopRetrying(live): return .success(true)
            case .pause: try await pause(live)
            case .resume: try await resume(live)
            case .cancel: try await cancel(live)
            case .restart: try await restart(live)
            case .remove(let deletes, let kinds): try await remove(live, deletingFile: deletes, ifIn: kinds)
            case .change(let change):
                if change.changesRequest { try await self.change(live) { change.apply(to: &$0) } }
                if let credentials = change.request.credentials { try await provide(credentials, to: live) }
            }
            return .success(isPossible)
        } catch { return .failure(error) }
    }

    /// Cancels the automatic retry of a failed download. Returns false if there is none.
    private func stopRetrying(_ live: LiveDownload) -> Bool {
        let wasToRetry = state.withLock { state in
            guard case .resting(.waiting)? = state.queue.listed(live.id)?.state else { return false }
            state.queue.take(.rest(.parked), of: live.id)
            return true
        }
        if wasToRetry { store?.submit([.update(live.id, [.attempts(0, retryAt: nil)])]) }
        return wasToRetry
    }

    // MARK: All

    func pauseAll() async throws(DownloadError) { try await all(.pause()) }

    func resumeAll() async throws(DownloadError) { try await all(.resume) }

    private func all(_ action: BulkAction) async throws(DownloadError) {
        if let error = try await act(action, on: nil, session: nil).failures.values.first { throw error }
    }

    /// Removes ended downloads of these kinds from the list; of one session, or with `nil` of all. Returns the downloads
    /// that were removed, and as failures those of them whose files stay, because they are no longer the finished ones.
    @discardableResult
    func clear(
        _ filter: ClearFilter, deletingFiles: Bool, session: String?
    ) async throws(DownloadError) -> BulkResult {
        let kinds = filter.kinds
        var result = try await act(.remove(deletingFiles: deletingFiles, ifIn: kinds), on: nil, session: session)
        // Another file has the name; keep the file, but remove the download.
        let replaced = result.failures.filter { $1.code == .conflict }
        result.failures = result.failures.filter { $1.code != .conflict }
        if !replaced.isEmpty {
            let ids = Array(replaced.keys)
            let again = try await act(.remove(deletingFiles: false, ifIn: kinds), on: ids, session: session)
            result.changed.formUnion(again.changed)
            result.failures.merge(again.failures) { $1 }
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
    fileprivate var kinds: Set<StateKind> {
        switch self {
        case .completed: [.completed]
        case .failed: [.failed]
        case .cancelled: [.cancelled]
        case .all: StateKind.final
        }
    }
}

/// An action on many downloads.
package enum BulkAction: Sendable {
    /// With `stopsRetries`, the automatic retries of failed downloads are cancelled too.
    case pause(stopsRetries: Bool = false)
    /// In the order of the downloads.
    case resume
    case cancel
    case restart
    /// With `ifIn`, only downloads in these states.
    case remove(deletingFiles: Bool, ifIn: Set<StateKind>? = nil)
    case change(RequestChange)

    var single: DownloadAction {
        switch self {
        case .pause: .pause
        case .resume: .resume
        case .cancel: .cancel
        case .restart: .restart
        case .remove: .remove
        case .change: .change
        }
    }

    /// The states of the downloads that the action is about if it names none.
    var kinds: Set<StateKind> {
        switch self {
        case .pause: StateKind.waiting.union([.downloading, .verifying, .failed])
        // What waits for its user goes on if the cause has gone, as the page of a hotel has after a sign-in.
        case .resume: [.paused, .failed, .waitingForFreshLink, .waitingForCredentials]
        case .cancel: Set(StateKind.allCases.filter { !$0.isOver })
        case .change: StateKind.waiting.union([.downloading, .paused, .failed])
        case .restart: [.completed, .cancelled]
        case .remove(_, let kinds): kinds ?? Set(StateKind.allCases)
        }
    }

    /// Whether a download in this state, without a run and without a handle, is changed together with others, in one
    /// transaction.
    func isBatched(_ kind: StateKind) -> Bool {
        switch self {
        case .pause: !kind.isFinal && kind != .paused
        case .resume: kind == .paused || kind == .failed
        case .cancel: !kind.isOver
        case .restart: false
        case .remove: true
        // A new link, credentials or another start date may end the wait.
        case .change(let change):
            !change.members.contains(.notBefore)
                && ![.waitingForFreshLink, .waitingForCredentials, .verifying].contains(kind) && !kind.isOver
        }
    }
}

/// The result of an action on many downloads: each of them is in one of the members.
package struct BulkResult: Sendable {
    package var changed: Set<DownloadID> = []
    /// The downloads that were already as the action leaves them.
    package var unchanged: Set<DownloadID> = []
    package var failures: [DownloadID: DownloadError] = [:]

    package init() {}
}
