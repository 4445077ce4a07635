package import FerryCore
package import FerryEngine

/// For the program that holds the downloads of several sessions in one list, and shows them to others.
extension DownloadManager {
    /// Adds many for a session, all or none; one whose identifier is listed in that session already is the answer, so
    /// that a repeated request adds nothing. Throws `duplicate` where another session has the identifier.
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
                // The same request, sent twice at once: the other one was first.
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

    /// As ``download(resumingWith:)``, for a session.
    package func add(resumingWith data: ResumeData, for session: String) async throws(DownloadError) -> Download {
        handle(try await local.add(resumingWith: data, session: session))
    }

    /// A page of the list, and how many pass the filter in all.
    package func page(
        _ filter: RowFilter, order: RowOrder = .queue, offset: Int = 0, limit: Int
    ) async throws(DownloadError) -> (rows: [CatalogueRow], total: Int) {
        try await local.page(filter, order: order, offset: offset, limit: limit)
    }

    /// What is written down of these; those that are not listed are left out.
    package func rows(_ ids: [DownloadID]) async throws(DownloadError) -> [CatalogueRow] {
        try await local.rows(ids)
    }

    /// How a row stands now.
    package func status(of row: CatalogueRow) -> DownloadStatus { scheduler?.status(of: row) ?? row.status }

    /// A revision to give to rows that are read after this call; see ``DownloadSnapshot/revision``.
    package static func nextRevision() -> UInt64 { Revision.next() }

    /// As ``adopt(_:)``, for a session.
    package func adopt(_ path: String, for session: String) async throws(DownloadError) -> Download {
        handle(try await local.adopt(Self.absolute(path), session: session))
    }

    /// As ``storage()``, of one session, whose directory this is.
    package func storage(session: String, directory: String) async throws(DownloadError) -> StorageReport {
        try await local.storageReport(session: session, directory: directory)
    }

    /// Those that run now, with the session that they belong to.
    package var running: [(status: DownloadStatus, session: String)] { scheduler?.running ?? [] }

    /// What is there of a file and who fetches what; `nil` where nothing is known.
    package func picture(of row: CatalogueRow) async -> TransferPicture? { await scheduler?.picture(of: row) }

    /// As ``pauseAll()``, of one session.
    package func pauseAll(session: String) async throws(DownloadError) {
        try await local.pauseAll(session: session)
    }

    /// As ``resumeAll()``, of one session.
    package func resumeAll(session: String) async throws(DownloadError) {
        try await local.resumeAll(session: session)
    }

    /// As ``clear(_:deletingFiles:)``, of one session.
    package func clear(
        _ filter: ClearFilter, deletingFiles: Bool, session: String
    ) async throws(DownloadError) {
        try await local.clear(filter, deletingFiles: deletingFiles, session: session)
    }

    /// How many there are of a session and what they hold, by state; with `nil` of all.
    package func totals(session: String?) async throws(DownloadError) -> StoreTotals {
        try await local.opened().totals(session: session)
    }

    /// Events that ended a download and were not acknowledged, in order, with numbers above `number`.
    package func pendingEvents(
        after number: Int64 = 0, limit: Int = 1000
    ) async throws(DownloadError) -> [NumberedEvent] {
        try await local.opened().pendingEvents(after: number, limit: limit)
    }

    /// These were handled: they are not told again. Returns when that is durable.
    package func acknowledge(_ numbers: [Int64]) async throws(DownloadError) {
        guard !numbers.isEmpty else { return }
        _ = try await local.opened().commit(numbers.map { .acknowledge($0) })
    }
}

extension Download {
    /// The session that it belongs to.
    package var session: String { live.session }
}

extension DownloadManager {
    /// The queue of this process. Throws `invalidRequest` where the downloads run in another.
    private var local: Scheduler {
        get throws(DownloadError) {
            guard let scheduler else {
                throw DownloadError(.invalidRequest, ErrorPhrase(.runsElsewhere))
            }
            return scheduler
        }
    }

    /// Moves it to this place among all of its priority, from 0; to the last one for a larger number.
    package func move(_ download: Download, toIndex index: Int) async throws(DownloadError) {
        try await local.move(download.live, toIndex: index)
    }
}
