package import FerryCore

/// API for a program that hosts the downloads of several sessions in one list.
extension DownloadManager {
    /// Adds requests for a session, all or none. If the identifier of a request is already listed in that session, the listed
    /// download is returned, so that a repeated call adds nothing. Throws `duplicate` if another session has the identifier.
    package func add(
        _ requests: [DownloadRequest], for session: String
    ) async throws(DownloadError) -> [(download: Download, isNew: Bool)] {
        var attempts = 0
        while true {
            var known: [DownloadID: Download] = [:]
            for id in requests.compactMap(\.id) {
                guard let download = try await download(id: id) else { continue }
                guard download.live.session == session else {
                    throw DownloadError(
                        .duplicate, ErrorPhrase(.otherSession, "\(id)"))
                }
                known[id] = download
            }
            let new = requests.filter { $0.id.map { known[$0] == nil } ?? true }
            do throws(DownloadError) {
                var added = try await list(new, for: session)[...]
                return requests.compactMap { request in
                    if let id = request.id, let listed = known[id] { return (listed, false) }
                    return added.popFirst()
                }
            } catch {
                // A concurrent call with the same requests has added them first.
                attempts += 1
                guard error.code == .duplicate, attempts < 3, requests.contains(where: { $0.id != nil }) else {
                    throw error
                }
            }
        }
    }

    private func list(
        _ requests: [DownloadRequest], for session: String
    ) async throws(DownloadError) -> [(download: Download, isNew: Bool)] {
        guard !requests.isEmpty else { return [] }
        let requests = try await checked(requests).map { request in
            var request = request
            request.session = session
            return request
        }
        return try await local.addAll(requests).map { (handle($0.live), $0.isNew) }
    }

    /// Like ``download(resumingWith:)``, but for a session.
    package func add(resumingWith data: ResumeData, for session: String) async throws(DownloadError) -> Download {
        handle(try await local.add(resumingWith: data, session: session))
    }

    /// Returns the resume data of a download of the session that is no longer listed, read from the part file that belongs to
    /// `path`.
    package func resumeData(
        of id: DownloadID, takenFrom path: String, session: String
    ) async throws(DownloadError) -> ResumeData {
        try await local.resumeData(of: id, takenFrom: path, session: session)
    }

    /// A page of the list for display, and the total number of rows that match the filter. To read all rows of a list that may
    /// change meanwhile, use ``forEachBatch(of:size:_:)``.
    package func page(
        _ filter: RowFilter, order: RowOrder = .queue, offset: Int = 0, limit: Int
    ) async throws(DownloadError) -> (rows: [CatalogueRow], total: Int) {
        try await local.page(filter, order: order, offset: offset, limit: limit)
    }

    /// The identifiers of all downloads that match the filter, in the given order.
    package func identifiers(_ filter: RowFilter, order: RowOrder) async throws(DownloadError) -> [DownloadID] {
        try await local.identifiers(filter, order: order)
    }

    /// The stored rows of these downloads; identifiers that are not listed are omitted.
    package func rows(_ ids: [DownloadID]) async throws(DownloadError) -> [CatalogueRow] {
        try await local.rows(ids)
    }

    /// Calls `body` with all rows that match the filter now, in list order, `size` at a time. Rows that are removed meanwhile
    /// are omitted.
    ///
    /// Pages by offset cannot guarantee this: they shift when the list changes between two reads, so a row can be missed.
    package func forEachBatch(
        of filter: RowFilter, size: Int = 1000, _ body: ([CatalogueRow]) async throws(DownloadError) -> Void
    ) async throws(DownloadError) {
        let ids = try await identifiers(filter, order: .queue)
        for start in stride(from: 0, to: ids.count, by: size) {
            try await body(try await rows(Array(ids[start..<min(ids.count, start + size)])))
        }
    }

    /// The current status of a row's download.
    package func status(of row: CatalogueRow) -> DownloadStatus { scheduler?.status(of: row) ?? row.status }

    /// The position of the list's log. A row that is read later is at least as new as every update up to this position.
    package var position: UInt64 { backend.log.position }

    /// The changes of the list and the events of its downloads, in a single order.
    package var updates: ListUpdates { backend.log.updates() }

    /// The end events that no app has acknowledged, with their numbers and sessions, in order.
    package func unacknowledged() async -> [DownloadEvent] { await scheduler?.backlog() ?? [] }

    /// Like ``adopt(_:)``, but for a session.
    package func adopt(_ path: String, for session: String) async throws(DownloadError) -> Download {
        handle(try await local.adopt(Self.absolute(path), session: session))
    }

    /// Like ``storage()``, but for one session. `directory` is searched for orphaned part files.
    package func storage(session: String, directory: String) async throws(DownloadError) -> StorageReport {
        try await local.storageReport(session: session, directory: directory)
    }

    /// The running downloads, with their sessions.
    package var running: [(status: DownloadStatus, session: String)] { scheduler?.running ?? [] }

    /// The speed of a session's downloads in bytes per second, including downloads that begin and end between two measurements; of
    /// all downloads if `session` is `nil`. The speed is 0 while no download is running.
    package func bytesPerSecond(of session: String?) -> Double { scheduler?.bytesPerSecond(of: session) ?? 0 }

    /// The ranges of a file that are written or in transfer, and the identity that the server reported for the file; `nil` if
    /// unknown.
    package func picture(of row: CatalogueRow) async -> TransferPicture? { await scheduler?.picture(of: row) }

    /// For each word that a user typed, the matching downloads in list order: the download with this identifier; if there is none,
    /// the downloads with this name; if there are none either, the downloads whose identifier begins with the word. Only downloads
    /// of `session` match, or of any session if it is `nil`.
    package func identifiers(
        of words: [String], session: String?
    ) async throws(DownloadError) -> [[DownloadID]] {
        try await local.identifiers(of: words, session: session)
    }

    /// Executes an action on the downloads `ids`, or on all downloads whose state permits it if `ids` is `nil`. Only downloads of
    /// `session` are affected, or of any session if it is `nil`. Downloads that neither run nor have a handle are changed in one
    /// transaction.
    package func perform(
        _ action: ListAction, on ids: [DownloadID]?, session: String?
    ) async throws(DownloadError) -> ListActionResult {
        try await local.perform(action, on: ids, session: session)
    }

    /// Moves downloads to one place, in this order, each among the downloads of its priority.
    package func move(_ ids: [DownloadID], to place: ListPlacement) async throws(DownloadError) -> ListActionResult {
        try await local.move(ids, to: place)
    }

    /// Like ``clear(_:deletingFiles:)``, but for one session. Returns the removed downloads; a removed download whose file was kept
    /// is reported as a failure.
    package func clear(
        _ filter: ClearFilter, deletingFiles: Bool, session: String
    ) async throws(DownloadError) -> ListActionResult {
        try await local.clear(filter, deletingFiles: deletingFiles, session: session)
    }

    /// The number and the bytes of a session's downloads, by state; of all downloads if `session` is `nil`.
    package func totals(session: String?) async throws(DownloadError) -> StoreTotals {
        try await local.opened().totals(session: session)
    }

    /// The path to which a damaged catalogue was moved when the list was opened; `nil` if it was not damaged.
    package var damagedCatalogue: String? { scheduler?.storage.damaged }

    /// At most `limit` unacknowledged events of ended downloads, with numbers above `number`, in ascending order.
    package func pendingEvents(
        after number: Int64 = 0, limit: Int = 1000
    ) async throws(DownloadError) -> [NumberedEvent] {
        try await local.opened().pendingEvents(after: number, limit: limit)
    }

    /// Acknowledges events, so that they are not delivered again. Returns once the acknowledgement is durable.
    package func acknowledge(_ numbers: [Int64]) async throws(DownloadError) {
        guard !numbers.isEmpty else { return }
        _ = try await local.opened().commit(numbers.map { .acknowledge($0) })
    }
}

extension Download {
    /// The session that the download belongs to.
    package var session: String { live.session }
}

extension DownloadManager {
    /// The queue of this process. Throws `invalidRequest` if the downloads run in another process.
    var local: Scheduler {
        get throws(DownloadError) {
            guard let scheduler else {
                throw DownloadError(.invalidRequest, ErrorPhrase(.runsElsewhere))
            }
            return scheduler
        }
    }
}

/// Sessions whose downloads a list hosts in addition to its own; used to rebuild a lost list from journals.
package struct HostedSessions: Sendable, Hashable {
    package var identifiers: Set<String>
    /// The directories of their downloads, absolute.
    package var directories: [String]

    package init(identifiers: Set<String> = [], directories: [String] = []) {
        self.identifiers = identifiers
        self.directories = directories
    }
}
