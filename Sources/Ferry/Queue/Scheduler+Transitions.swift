import FerryCore
import FerryEngine

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// A download that an action changes; it has no run, and no other code changes it.
struct HeldDownload: Sendable {
    /// The place, conditions and state of the download.
    let entry: IndexEntry
    /// The object of the download; `nil` if there is none, and none will be created before the change has ended.
    let live: LiveDownload?
    /// The earliest start.
    let notBefore: Date?

    init(_ entry: IndexEntry) {
        self.entry = entry
        live = nil
        // For a failed download, `wakeAt` is the time of its retry.
        notBefore = entry.kind == .failed ? nil : entry.wakeAt
    }

    init(_ live: LiveDownload, key: QueueKey) {
        let request = live.request
        entry = IndexEntry(
            id: live.id, key: key, kind: StateKind(live.current), network: request.network, host: request.indexedHost,
            session: live.session)
        self.live = live
        notBefore = request.notBefore
    }

    var id: DownloadID { entry.id }
    var kind: StateKind { entry.kind }
}

/// The state changes that users cause. Each is stored in one transaction and reported once, for one download or for many. The
/// files of downloads are deleted before the list is written, because the list may need the space.
extension Scheduler {
    /// The download in its current state; the caller holds its lock.
    func held(_ live: LiveDownload) -> HeldDownload {
        let priority = live.request.priority
        return HeldDownload(live, key: queue.key(of: live.id, or: priority))
    }

    /// Pauses downloads; failed downloads stay failed, and are not retried.
    func park(_ held: [HeldDownload]) async throws(DownloadError) {
        let date = clock.date().asStored
        let paused = held.filter { $0.kind != .failed }
        let events = paused.map { event(.paused, of: $0, date: date) }
        try await commit(
            held.map { .update($0.id, [$0.kind == .failed ? .attempts(0, retryAt: .never) : .state(.paused)]) }
                + events.map { .record($0) })
        rest(held)
        takeBackLeases(of: held.map(\.id))
        for one in held {
            if one.kind == .failed { one.live?.set(retryAt: nil) } else { one.live?.set(state: .paused) }
        }
        log.append(ListChange(changed: Set(held.map(\.id))), events)
    }

    /// Queues downloads behind the others of their priority, in this order, or with `keepsPlace` at their current places.
    /// Stores `fields` for each download in the same transaction. With `isRenewed`, discards the received bytes.
    func enqueue(
        _ held: [HeldDownload], with fields: [RowField] = [], isRenewed: Bool = false, keepsPlace: Bool = false
    ) async throws(DownloadError) {
        var joining = joining(held)
        if keepsPlace {
            try await commit(joining.map { $0.update(fields) })
        } else {
            await listLock.acquireShared()
            defer { listLock.release() }
            joining = try await placeLast(joining, with: fields)
        }
        if isRenewed {
            withdrawLeases(of: held.map(\.id))
            try await discardParts(of: held)
            for one in held { one.live?.forgetProgress() }
            queue.fetchAnew(held.map(\.id))
        }
        join(joining)
    }

    /// Queues downloads behind the others of their priority, in this order; the caller holds the list's lock.
    func enqueueTogether(_ held: [HeldDownload]) async throws(DownloadError) {
        join(try await placeLast(joining(held)))
    }

    /// A download that will be queued with its key, from `start` on.
    private struct Joining {
        var entry: IndexEntry
        let live: LiveDownload?
        let start: Date?

        func update(_ fields: [RowField]) -> StoreChange {
            .update(entry.id, fields + [.state(Scheduler.wait(until: start)), .attempts(0, retryAt: nil)])
        }
    }

    private func joining(_ held: [HeldDownload]) -> [Joining] {
        let now = clock.date()
        return held.map { one in
            Joining(entry: one.entry, live: one.live, start: one.notBefore.flatMap { $0 > now ? $0 : nil })
        }
    }

    /// Assigns to downloads the last places of their priority, and stores these with the updated fields. The caller holds the
    /// list's lock, so that the store and the queue get the places of a download in the same order. A caller that holds the
    /// downloads' own locks shares the list's lock, so that one transaction stores many of them.
    private func placeLast(
        _ joining: [Joining], with fields: [RowField] = []
    ) async throws(DownloadError) -> [Joining] {
        let keys = queue.takeKeys(like: joining.map(\.entry.key))
        let placed = zip(joining, keys).map { one, key in
            var one = one
            one.entry.key = key
            return one
        }
        try await commit(
            placed.flatMap { one in
                [.keys([StoreChange.KeyChange(one.entry.id, one.entry.key)]), one.update(fields)]
            })
        queue.set(placed.map { QueuePlace(id: $0.entry.id, key: $0.entry.key) })
        return placed
    }

    /// Queues stored downloads, each at its current place.
    private func join(_ joining: [Joining]) {
        for one in joining { one.live?.set(state: Self.wait(until: one.start)) }
        let settings = configuration.transfer
        queue.join(
            joining.map { one in
                QueuedDownload(one.entry, of: one.live?.request, as: rest(until: one.start), through: settings)
            })
        let ids = Set(joining.map(\.entry.id))
        log.append(ListChange(changed: ids, moved: ids))
        startHeartbeat()
        reschedule()
        showStandings(of: joining.compactMap(\.live))
    }

    // MARK: Ends

    /// Cancels downloads that are neither completed nor cancelled.
    func cancel(_ held: [HeldDownload]) async throws(DownloadError) {
        try await discarding(held) { () async throws(DownloadError) in try await cancelled(held) }
    }

    /// Removes downloads from the list; those that have not ended are cancelled.
    func remove(_ held: [HeldDownload]) async throws(DownloadError) {
        if held.isEmpty { return }
        let ending = held.filter { !$0.kind.isFinal }
        try await discarding(held) { () async throws(DownloadError) in try await unlist(held, cancelling: ending) }
        for one in held { one.live?.close() }
    }

    /// Deletes the part files and journals of downloads that are neither completed nor cancelled, then stores the result.
    private func discarding(
        _ held: [HeldDownload], _ store: () async throws(DownloadError) -> Void
    ) async throws(DownloadError) {
        let lost = held.filter { !$0.kind.isOver }
        try await discardParts(of: lost)
        do throws(DownloadError) { try await store() } catch {
            for one in lost { one.live?.forgetProgress() }
            throw error
        }
    }

    /// Stores and reports the cancellation of downloads whose part files have been deleted. Throws, and changes nothing, if the
    /// list refuses it.
    func cancelled(_ held: [HeldDownload]) async throws(DownloadError) {
        let ending = cancellation
        let vault = vault
        let stored = try await commit(held.map { .end($0.id, ending) })
        withdrawLeases(of: held.map(\.id))
        await forgetSecrets(of: held.map(\.id), in: vault)
        report(ending, of: held, stored)
    }

    /// Removes downloads from the list and the store, in one transaction with the cancellation of some of them.
    func unlist(_ held: [HeldDownload], cancelling: [HeldDownload] = []) async throws(DownloadError) {
        let ids = held.map(\.id)
        let ending = cancellation
        let vault = vault
        let stored = try await commit(cancelling.map { .end($0.id, ending) } + [.remove(ids)])
        withdrawLeases(of: ids)
        for id in ids { pageRetries.forget(id) }
        await forgetSecrets(of: ids, in: vault)
        report(ending, of: cancelling, stored)
        queue.unlist(ids)
        let sessions = Dictionary(held.map { ($0.id, $0.entry.session) }) { first, _ in first }
        log.append(ListChange(removed: sessions))
    }

    /// A cancellation at the current time.
    private var cancellation: Ending {
        Ending(.cancelled, at: clock.date(), isNumbered: isKept)
    }

    /// Shows and reports a stored end.
    private func report(_ ending: Ending, of held: [HeldDownload], _ stored: [NumberedEvent]) {
        if held.isEmpty { return }
        let numbers = Dictionary(stored.map { ($0.event.id, $0.number) }) { first, _ in first }
        rest(held)
        for one in held { one.live?.end(ending) }
        log.append(
            ListChange(changed: Set(held.map(\.id))),
            held.map { event(ending.event, of: $0, date: ending.date, number: numbers[$0.id]) })
    }

    // MARK: Files

    /// Deletes the part files and journals of downloads without a run.
    private func discardParts(of held: [HeldDownload]) async throws(DownloadError) {
        for one in held {
            guard let live = one.live, let path = live.status.path else { continue }
            await discardPart(of: one.id, at: path, within: live.request.root)
        }
        for row in try await rows(of: held.filter { $0.live == nil }) {
            if let path = row.path { await discardPart(of: row.id, at: path, within: row.request.root) }
        }
    }

    private func discardPart(of id: DownloadID, at path: String, within root: String?) async {
        await withFiles(within: root) { DownloadDriver.discard(path: path, id: id, fileSystem: $0) }
    }

    /// Deletes published files that are unchanged. Returns the errors.
    func deleteFiles(of held: [HeldDownload]) async throws(DownloadError) -> [DownloadID: DownloadError] {
        var failures: [DownloadID: DownloadError] = [:]
        for row in try await rows(of: held) {
            do throws(DownloadError) { try await deleteFile(of: row) } catch { failures[row.id] = error }
        }
        return failures
    }

    /// Deletes the published file if it is unchanged. A file that existed before the download belongs to the user.
    private func deleteFile(of row: CatalogueRow) async throws(DownloadError) {
        let refusal = configuration.refusal
        try await withFiles(within: row.request.root) { files throws(DownloadError) in
            guard let finished = row.finished else {
                // The download was about to be restarted; its earlier file is deleted only if unchanged.
                if let earlier = row.leftFile ?? row.earlierFile {
                    try? PublishedFile.delete(earlier.path, ifUnchangedSince: earlier, fileSystem: files)
                }
                return
            }
            guard !finished.path.isEmpty, !finished.wasAlreadyComplete else { return }
            if let error = refusal?(finished.path) { throw error }
            try PublishedFile.delete(
                finished.path, ifUnchangedSince: row.published?.at(finished.path), fileSystem: files)
        }
    }

    /// The rows of the downloads that may have files.
    private func rows(of held: [HeldDownload]) async throws(DownloadError) -> [CatalogueRow] {
        guard !held.isEmpty, let store else { return [] }
        return try await store.page(RowFilter(ids: Set(held.map(\.id)), hasFiles: true), offset: 0, limit: .max)
    }

    // MARK: Queue and events

    private func rest(_ held: [HeldDownload]) {
        queue.rest(held.map(\.id), .parked)
    }

    /// The state of a download that is queued, or that will be queued at a date.
    static func wait(until date: Date?) -> DownloadState { .waiting(date.map { .notBefore($0) } ?? .slot) }

    private func event(
        _ kind: DownloadEvent.Kind, of one: HeldDownload, date: Date, number: Int64? = nil
    ) -> DownloadEvent {
        event(kind, of: one.id, date: date, number: number, session: one.entry.session)
    }
}
