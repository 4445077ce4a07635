import Ferry
import FerryAPI
import FerryCore
import Logging
import Synchronization

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// Syncs the sets of the daemon with a ``SetSync`` for each active set, at most ``mostRunning`` at a time.
///
///     store: waiting ─► syncing ─► SetSync ─► downloads of the session `sets` ─► report ─► store: complete, …
///
/// Invariants:
/// - A set that is `waiting` or `syncing` in the store is synced, even after a kill and a restart of the daemon.
/// - A client's pause, cancellation or removal of a set returns only after its run has ended, so that a directory never has two
///   syncs.
///
/// The downloads of a run are in the daemon's list, in their own session, so the daemon's limits, slots and network rules apply.
/// Unfinished and failed ones stay listed, and the next run of the set joins those that it requests in the same way.
final class SetKeeper: Sendable {
    /// The session of the downloads.
    static let session = FerryAPI.setsSession
    /// The maximum number of sets that are synced at the same time.
    private static let mostRunning = 4
    /// The interval between progress reports of a running set.
    private static let interval: Duration = .seconds(1)
    /// The pause after a state could not be stored, in which the set is not started again.
    private static let pause: Duration = .seconds(30)

    private let store: SetStore
    private let manager: DownloadManager
    private let broadcaster: EventBroadcaster
    private let logger: Logger
    /// Notified when a set may be started.
    private let changes = AsyncEvent()

    /// One run of a set.
    private final class Run: Sendable {
        /// Notified when the run is to stop.
        let stop = AsyncEvent()
        /// Notified when the run has ended.
        let ended = AsyncEvent()
    }
    private struct State {
        var runs: [String: Run] = [:]
        var isShutDown = false
    }
    private let state = Mutex(State())
    /// Serializes changes by clients.
    private let turns = AsyncLock()

    init(_ store: SetStore, _ manager: DownloadManager, _ broadcaster: EventBroadcaster, logger: Logger) {
        (self.store, self.manager, self.broadcaster, self.logger) = (store, manager, broadcaster, logger)
    }

    var all: [FileSet] { store.all }

    /// All sets, and the number of the last change that they include.
    var items: FileSetItems { store.items }

    func set(_ id: String) throws(DownloadError) -> FileSet {
        guard let set = store.set(id) else {
            throw DownloadError(
                .notFound, ErrorPhrase(.noSet, ForeignText.quote(id)), suggestion: ErrorPhrase(.setsShow),
                recovery: .needsUser)
        }
        return set
    }

    // MARK: Changes by clients

    /// Adds a set. A listed set with the same source and directory gets the options of the new one, and is synced again.
    func add(_ new: NewSet, root: String?) async throws(DownloadError) -> (set: FileSet, isNew: Bool) {
        await turns.acquire()
        defer { turns.release() }
        if let listed = store.all.first(where: { $0.set.isSame(as: new) }) {
            if !listed.set.hasSameBytes(as: new) || listed.root != root {
                // A run has the options with which it began, and an unfinished download its rights to write and to replace.
                _ = try await end(listed.id, as: .paused)
                let mayReplace = (listed.set.replacesOthers ?? false, new.replacesOthers ?? false)
                if listed.root != root || mayReplace.0 != mayReplace.1 { await removeDownloads(of: listed) }
            }
            return (try await start(listed.id) { ($0.set, $0.root) = (new, root) }, false)
        }
        let set = FileSet(id: DownloadID.make().rawValue, state: .waiting, new, root: root, addedAt: Date())
        try await store.change { sets throws(DownloadError) in
            guard sets.count < SetStore.most else {
                throw DownloadError(.invalidRequest, ErrorPhrase(.manySets, "\(SetStore.most)"), recovery: .needsUser)
            }
            // A directory inside another set's directory would have two syncs, whose downloads could not be told apart.
            if let other = sets.first(where: { $0.set.overlaps(new) }) {
                throw DownloadError(
                    .conflict, ErrorPhrase(.setPlaceTaken, new.directory, other.id),
                    suggestion: ErrorPhrase(.setsShow), recovery: .needsUser)
            }
            sets.append(set)
        }
        let added = store.set(set.id) ?? set
        changed(added)
        return (added, true)
    }

    /// Pauses a set; throws `wrongState` if it is neither being synced nor paused.
    func pause(_ id: String) async throws(DownloadError) -> FileSet {
        await turns.acquire()
        defer { turns.release() }
        let set = try await end(id, as: .paused)
        guard set.state == .paused else {
            throw DownloadError(.wrongState, ErrorPhrase(.setNotSynced, set.set.directory))
        }
        return set
    }

    /// Stops a set and deletes its part files.
    func cancel(_ id: String) async throws(DownloadError) -> FileSet {
        await turns.acquire()
        defer { turns.release() }
        return try await endForGood(id)
    }

    /// Resumes a set; one that has ended is synced again.
    func resume(_ id: String) async throws(DownloadError) -> FileSet {
        await turns.acquire()
        defer { turns.release() }
        return try await start(id) { _ in }
    }

    /// Changes a set that is to be synced; the caller holds ``turns``.
    private func start(
        _ id: String, _ body: @escaping @Sendable (inout FileSet) -> Void
    ) async throws(DownloadError) -> FileSet {
        let set = try await change(id) { set in
            body(&set)
            if !set.state.isActive { set.state = .waiting }
        }
        changed(set)
        return set
    }

    func remove(_ id: String) async throws(DownloadError) {
        await turns.acquire()
        defer { turns.release() }
        _ = try await endForGood(id)
        try await store.change { sets throws(DownloadError) in sets.removeAll { $0.id == id } }
        broadcaster.publish(.removed([id], asOf: store.position), session: nil)
    }

    private func endForGood(_ id: String) async throws(DownloadError) -> FileSet {
        let set = try await end(id, as: .cancelled)
        await removeDownloads(of: set)
        return set
    }

    /// Ends the run of a set; the caller holds ``turns``.
    private func end(_ id: String, as word: FileSet.State) async throws(DownloadError) -> FileSet {
        _ = try set(id)
        // Stores the state first, so that neither the end of the run nor a kill before that end can change it.
        let set = try await change(id) { set in
            if word == .cancelled || set.state.isActive { (set.state, set.bytesPerSecond) = (word, nil) }
            set.endWait()
            if word == .cancelled { set.endedAt = Date() }
        }
        if let run = state.withLock({ $0.runs[id] }) {
            run.stop.notify()
            await run.ended.wait(after: 0)
        }
        changed(set)
        return set
    }

    private func change(
        _ id: String, _ body: @escaping @Sendable (inout FileSet) -> Void
    ) async throws(DownloadError) -> FileSet {
        let old = try set(id)
        try await store.change { sets throws(DownloadError) in
            guard let index = sets.firstIndex(where: { $0.id == id }) else {
                throw DownloadError(.notFound, ErrorPhrase(.noSet, ForeignText.quote(id)))
            }
            body(&sets[index])
        }
        // The stored set has the number of the change.
        return store.set(id) ?? old
    }

    private func changed(_ set: FileSet) {
        broadcaster.publish(.set(set), session: nil)
        changes.notify()
    }

    /// Removes the downloads that the runs of a set have left, with their part files.
    private func removeDownloads(of set: FileSet) async {
        await forEachDownload(of: set) { download, _, _ in try? await download.remove() }
    }

    private func forEachDownload(
        of set: FileSet, _ body: (_ download: Download, _ request: DownloadRequest, _ path: String) async -> Void
    ) async {
        try? await manager.forEachBatch(of: RowFilter(session: Self.session)) { rows in
            for row in rows {
                guard let path = row.path ?? row.request.destination.filePath,
                    Paths.isPlace(path, in: set.set.directory), let download = try? await manager.download(id: row.id)
                else { continue }
                await body(download, row.request, path)
            }
        }
    }

    /// Removes the downloads of earlier runs from the list that this run does not request, or requests otherwise: each would
    /// occupy the path of the new download, or be joined with an outdated digest, size or conflict rule. The part file stays, like
    /// that of a killed `ferry sync`, and the next download resumes it if it can. A part file from another URL is deleted.
    private func removeOutdated(_ set: FileSet, _ sync: SetSync) async {
        var wanted: [String: DownloadRequest] = [:]
        for request in sync.requests {
            if let path = request.destination.filePath { wanted[path] = request.stored }
        }
        await forEachDownload(of: set) { download, listed, path in
            let request = wanted[path]
            if let request, request.sources != listed.sources {
                try? await download.remove()
            } else if request.map(listed.fetchesAsSynced) != true {
                do { _ = try await download.cancelByProducingResumeData() } catch {
                    // The download has ended, or has no bytes.
                    try? await download.remove()
                }
            }
        }
    }

    // MARK: Running

    /// Stops all runs, and returns when each has stored its progress. Their sets resume after the next start.
    func stop() async {
        let runs = state.withLock { state in
            state.isShutDown = true
            return Array(state.runs.values)
        }
        for run in runs { run.stop.notify() }
        for run in runs { await run.ended.wait(after: 0) }
    }

    /// Syncs active sets until cancelled. Owns the runs.
    func run() async {
        // Removes completed downloads that a killed daemon has not recorded. The next run of the set checks the files.
        _ = try? await manager.clear(.completed, deletingFiles: false, session: Self.session)
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                let seen = changes.count
                while let (set, run) = takeNext() { group.addTask { await self.keep(set, run) } }
                await changes.wait(after: seen)
            }
        }
    }

    private func takeNext() -> (FileSet, Run)? {
        let active = store.all.filter(\.state.isActive)
        return state.withLock { state in
            guard !state.isShutDown, state.runs.count < Self.mostRunning,
                let next = active.first(where: { state.runs[$0.id] == nil })
            else { return nil }
            let run = Run()
            state.runs[next.id] = run
            return (next, run)
        }
    }

    /// Runs one sync of a set, and stores its outcome unless it was stopped.
    private func keep(_ set: FileSet, _ run: Run) async {
        if await !sync(set, run) {
            // The state could not be stored, so the set is still active. Without a pause it would start again at once.
            _ = await value(of: run) { try? await Task.sleep(for: Self.pause) }
        }
        state.withLock { $0.runs[set.id] = nil }
        run.ended.notify()
        changes.notify()
    }

    /// Returns whether the states of the set could be stored.
    private func sync(_ set: FileSet, _ run: Run) async -> Bool {
        let began = try? await change(set.id) { set in
            // Ends the wait of a run that a kill has interrupted.
            set.endWait()
            guard set.state == .waiting else { return }
            (set.state, set.error, set.incomplete, set.problems) = (.syncing, nil, nil, nil)
            set.receivedBytes = 0
        }
        guard let began else { return store.set(set.id) == nil }
        guard began.state == .syncing else { return true }
        broadcaster.publish(.set(began), session: nil)
        let outcome = await value(of: run) { await self.outcome(of: began) }
        return await store(outcome, of: set.id)
    }

    /// Returns the result of `body`; `nil` if the run is to stop first. `body` is then cancelled and awaited, because a sync pauses
    /// its downloads and writes the manifest.
    private func value<Value: Sendable>(
        of run: Run, _ body: @escaping @Sendable () async -> Value?
    ) async -> Value? {
        await withTaskGroup(of: Value?.self) { group in
            group.addTask { await body() }
            group.addTask {
                await run.stop.wait(after: 0)
                return nil
            }
            var value: Value?
            if let first = await group.next() { value = first }
            group.cancelAll()
            for await rest in group { value = value ?? rest }
            return value
        }
    }

    private typealias Outcome = Result<SyncReport, DownloadError>

    /// Returns whether the outcome was stored, or the set is no longer listed.
    private func store(_ outcome: Outcome?, of id: String) async -> Bool {
        let isStopping = state.withLock { $0.isShutDown }
        let set = try? await change(id) { set in
            // Otherwise a client has stopped the set and chosen its state, or the daemon is ending and the set resumes at its next
            // start.
            guard set.state == .syncing, !isStopping else { return }
            (set.endedAt, set.bytesPerSecond) = (Date(), nil)
            set.endWait()
            switch outcome {
            case .success(let report):
                set.take(report)
                set.state = report.isComplete ? .complete : .incomplete
            case .failure(let error):
                set.tell(error)
                set.state = .failed
            case nil: set.state = .failed
            }
        }
        guard let set else { return store.set(id) == nil }
        logger.info("set", metadata: ["id": "\(id)", "state": "\(set.state.rawValue)", "files": "\(set.files)"])
        broadcaster.publish(.set(set), session: nil)
        return true
    }

    private func outcome(of set: FileSet) async -> Outcome {
        do throws(DownloadError) {
            let (source, options) = try set.sync()
            let sync = try await SetSync(
                of: source, into: .directory(set.set.directory), options: options, manager: manager
            ) { self.show($0, of: set.id) }
            await removeOutdated(set, sync)
            let active = ActiveDownloads()
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.fetch(sync, active) }
                group.addTask { await self.report(sync, active, of: set.id) }
                await group.next()
                group.cancelAll()
            }
            return .success(try await sync.finish())
        } catch { return .failure(error) }
    }

    /// Publishes why the list could not be read and when it will be requested again, until that request is made.
    private func show(_ retry: ListRetry, of id: String) {
        let set = store.note(id) { set in
            if retry.isDue {
                // Another part of the list may have failed since.
                if set.until == retry.until { set.endWait() }
            } else if set.state == .syncing {
                set.tell(retry.error)
                set.until = retry.until
            }
        }
        if let set { broadcaster.publish(.set(set), session: nil) }
    }

    private func fetch(_ sync: SetSync, _ active: ActiveDownloads) async {
        await sync.fetch { [manager] request throws(DownloadError) in
            guard let (download, isNew) = try await manager.add([request], for: Self.session).first else { return }
            active.add(download)
            defer { active.remove(download) }
            do throws(DownloadError) {
                // An earlier run has paused the download.
                if !isNew, case .paused = download.status.state { try await download.requeue() }
                await sync.completed(try await self.finished(download))
            } catch {
                // A paused download keeps its part file, and the next run of the set joins it.
                if Task.isCancelled { try? await download.pause() }
                throw error
            }
            try? await download.remove()
        }
    }

    /// Waits for the end of a download. A download that waits for its user is paused and counts as failed, because a server that
    /// requires credentials would otherwise occupy the slot of its set for ever. The next run of the set tries it again.
    private func finished(_ download: Download) async throws(DownloadError) -> FinishedDownload {
        for await status in download.updates {
            if status.state.isFinal { break }
            guard [.waiting(.credentials), .waiting(.freshLink)].contains(status.state) else { continue }
            try? await download.pause()
            throw status.waitError ?? DownloadError(.internal, "the reason was not kept", recovery: .needsUser)
        }
        return try await download.finished()
    }

    /// Publishes the progress until cancelled.
    private func report(_ sync: SetSync, _ active: ActiveDownloads, of id: String) async {
        repeat {
            let (now, files) = (sync.progress, active.progress)
            if let set = store.note(id, { $0.take(now, files) }) { broadcaster.publish(.set(set), session: nil) }
        } while (try? await Task.sleep(for: Self.interval)) != nil
    }
}

extension NewSet {
    /// Whether both have the same source and directory.
    fileprivate func isSame(as other: NewSet) -> Bool { withoutOptions.hasSameBytes(as: other.withoutOptions) }

    private var withoutOptions: NewSet { NewSet(url: url, list: list, directory: directory) }

    /// Whether the encoded sets are equal. Canonically equivalent names are equal as strings but name different files.
    fileprivate func hasSameBytes(as other: NewSet) -> Bool {
        self == other
            && (try? JSONCoding.encode(self, sortsKeys: true)) == (try? JSONCoding.encode(other, sortsKeys: true))
    }

    /// Whether the two directories are the same, or one is inside the other. Blocks.
    fileprivate func overlaps(_ other: NewSet) -> Bool {
        RealPath.isPlace(directory, in: other.directory) || RealPath.isPlace(other.directory, in: directory)
    }
}

extension DownloadRequest.Destination {
    fileprivate var filePath: String? { if case .file(let path) = self { path } else { nil } }
}

extension FileSet {
    /// Ends the wait for the next request for the list.
    fileprivate mutating func endWait() {
        if until != nil { (error, until) = (nil, nil) }
    }

    fileprivate mutating func take(_ progress: SyncProgress, _ active: (bytes: ByteCount, bytesPerSecond: Double)) {
        (files, done, failed) = (progress.files, progress.done, progress.failed)
        endWait()
        // Until a resumed file ends, its size includes bytes that earlier runs received.
        receivedBytes = max(receivedBytes, progress.receivedBytes.adding(active.bytes))
        bytesPerSecond = state == .syncing ? active.bytesPerSecond : nil
    }

    fileprivate mutating func take(_ report: SyncReport) {
        (files, done) = (report.listedCount, report.unchangedCount + report.fetchedCount)
        (failed, receivedBytes, gone) = (report.incomplete.count, report.receivedBytes, report.gone.count)
        tell(report)
    }
}
