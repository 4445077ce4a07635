import FerryCore
import FerryEngine

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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
    func lives(
        in store: any DownloadStore, _ read: () async throws(DownloadError) -> [CatalogueRow]
    ) async throws(DownloadError) -> [LiveDownload] {
        var since = queue.stamp
        var rows = try await read()
        while true {
            let objects = queue.objects(of: &rows, since: &since)
            let stale = objects.stale
            if stale.isEmpty { return objects.found }
            if objects.isChanging {
                // A bulk change holds this lock until its rows are stored.
                await listLock.acquireShared()
                listLock.release()
            }
            let new = try await store.rows(Array(stale))
            let byID = Dictionary(new.map { ($0.id, $0) }) { first, _ in first }
            rows = rows.compactMap { stale.contains($0.id) ? byID[$0.id] : $0 }
        }
    }

    /// The published file of a finished download; `nil` if there is none.
    func published(_ finished: FinishedDownload) async -> PublishedFile? {
        guard !finished.path.isEmpty else { return nil }
        return await withFiles { (try? PublishedFile.read(finished.path, fileSystem: $0)).flatMap(\.self) }
    }

    func count() async throws(DownloadError) -> Int { try await opened().count(.all) }

    func storageReport() async throws(DownloadError) -> StorageReport {
        guard case .catalogue(_, let directory, _) = configuration.storage else {
            return try await storageReport(session: nil, directory: nil)
        }
        return try await storageReport(session: nil, directory: directory)
    }

    /// The report of one session, or of all sessions if it is `nil`; `directory` is searched for orphaned part files.
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
        let orphans = await withFiles { [queue] in
            PartFiles.all(in: directory, fileSystem: $0) { found in
                queue.isKnown(DownloadID(rawValue: found.record.id))
                    ? nil : (part: found.part, bytes: found.claimedBytes)
            }
        }
        report.orphanedParts = orphans.map(\.part)
        report.orphanedBytes = orphans.map(\.bytes).sum
        return report
    }

    // MARK: Events

    func listen() -> EventHub.Place { log.listen(backlog: backlog) }

    /// Reads the unacknowledged ends once the list is open.
    var backlog: @Sendable () async -> [DownloadEvent]? {
        guard isKept else { return { [] } }
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

    /// The store, once it is open; `nil` if it will not be opened.
    private func whenOpen() async -> (any DownloadStore)? {
        while true {
            let seen = updates.count
            switch queue.phase {
            // Without a store, the list is being closed.
            case .open: if let store { return store }
            case .closing, .closed: return nil
            case .idle, .suspended: await updates.wait(after: seen)
            }
            if Task.isCancelled { return nil }
        }
    }

    /// Running downloads that have reported their start, so that progress may be reported.
    var moving: Set<DownloadID> { queue.begun }

    func set(dispatcher: DelegateDispatcher?) { heartbeat.set(dispatcher) }
}

/// Operations for a program that hosts several sessions, in addition to those of an app.
extension Scheduler {
    func page(
        _ filter: RowFilter, order: RowOrder, offset: Int, limit: Int
    ) async throws(DownloadError) -> (rows: [CatalogueRow], total: Int) {
        let store = try await opened()
        let rows = try await store.page(filter, order: order, offset: offset, limit: limit)
        let total = try await store.count(filter)
        return (rows, total)
    }

    func identifiers(_ filter: RowFilter, order: RowOrder) async throws(DownloadError) -> [DownloadID] {
        try await opened().identifiers(filter, order: order)
    }

    func identifiers(of words: [String], session: String?) async throws(DownloadError) -> [[DownloadID]] {
        try await opened().identifiers(of: words, session: session)
    }

    func rows(_ ids: [DownloadID]) async throws(DownloadError) -> [CatalogueRow] {
        try await opened().rows(ids)
    }

    /// The current status of a row's download; the state in memory takes precedence over the row.
    func status(of row: CatalogueRow) -> DownloadStatus {
        if let live = known(row.id) { return live.status }
        var status = row.status
        if status.state.followsQueue, let now = queue.standing(of: row.id) {
            status.state = .waiting(now.reason)
            status.waitError = now.error
        }
        return status
    }

    /// The snapshot that a handle of this row would show.
    func snapshot(of row: CatalogueRow) -> DownloadSnapshot {
        if let live = known(row.id) { return live.snapshot }
        return DownloadSnapshot(status: status(of: row), request: row.request(with: nil), finished: row.finished)
    }

    /// The running downloads with their sessions.
    var running: [(status: DownloadStatus, session: String)] {
        queue.running.map { ($0.live.status, $0.live.session) }
    }

    /// The speed of a session's downloads in bytes per second, or of all downloads if `session` is `nil`. The speed is 0 while no
    /// download is running.
    func bytesPerSecond(of session: String?) -> Double {
        queue.isRunning(session) ? traffic.bytesPerSecond(of: session, at: clock.now()) : 0
    }

    /// The state of the file's ranges, from the driver while it runs, otherwise from the journal.
    func picture(of row: CatalogueRow) async -> TransferPicture? {
        if let picture = known(row.id)?.driver?.picture() { return picture }
        guard let part = row.part ?? row.path.map(Paths.part), !StateKind(row.state).isOver else {
            return nil
        }
        let found = await withFiles { try? PartFiles.find(at: part, fileSystem: $0) }
        guard let found, found.record.id == row.id.rawValue else { return nil }
        return TransferPicture(found.record)
    }
}

/// The limits of sessions, which apply within those of the manager.
extension Scheduler {
    /// Applies settings at once, including to running downloads.
    func set(_ settings: SessionSettings, of session: String) {
        let throttle = queue.throttle(of: session)
        queue.set(settings, of: session)
        throttle?.set(rate: settings.rateLimit)
        if let throttle { environment.note(limitOf: throttle, isRunning: settings.rateLimit != nil) }
        reschedule()
        showStandings()
    }
}

extension DownloadManager {
    /// Sets the limits of a session, which take effect at once and are not stored.
    package func set(_ settings: SessionSettings, of session: String) { scheduler?.set(settings, of: session) }
}

/// The scheduler as the backend of a manager; most requirements are implemented in other extensions.
extension Scheduler: DownloadBackend {
    func directory() async throws(DownloadError) -> String {
        if case .catalogue(_, let directory, _) = configuration.storage { return directory }
        return WorkingDirectory.path
    }

    func plan(_ request: DownloadRequest, testsRanges: Bool) async throws(DownloadError) -> DownloadPlan {
        try await DownloadPlanner(
            request: request, environment: environment,
            headLimit: configuration.driverSettings.with(request).stallTimeout, testsRanges: testsRanges
        ).plan()
    }

    func add(resumingWith data: ResumeData) async throws(DownloadError) -> LiveDownload {
        try await add(resumingWith: data, session: nil)
    }

    func clear(_ filter: ClearFilter, deletingFiles: Bool) async throws(DownloadError) {
        try await clear(filter, deletingFiles: deletingFiles, session: nil)
    }

    func history(of id: DownloadID) async throws(DownloadError) -> [DownloadEvent] {
        try await opened().history(of: id)
    }

    var network: NetworkStatus {
        watchNetwork()
        return queue.networkStatus
    }

    var networkChanges: AsyncStream<NetworkStatus> {
        watchNetwork()
        return networkHub.stream {
            // Omit an assumed status while the first check is running.
            queue.isNetworkKnown || !networkTasks.isWatching ? queue.networkStatus : nil
        }
    }
}
