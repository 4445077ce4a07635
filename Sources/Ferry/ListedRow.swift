package import FerryCore
import FerryEngine

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// The current state of a listed download, and its place in the list.
///
/// A download in memory (one that is running, has a handle, or is in the updates that a listener has just received) is shown by
/// its object, any other download by its row.
package struct ListedRow: Sendable {
    package let snapshot: DownloadSnapshot
    package let session: String
    package let key: QueueKey
    package let addedAt: Date
    /// When the download ended; `nil` if it has not.
    package let endedAt: Date?

    package var id: DownloadID { snapshot.status.id }

    init(_ snapshot: DownloadSnapshot, session: String, key: QueueKey, addedAt: Date, endedAt: Date?) {
        self.snapshot = snapshot
        self.session = session
        self.key = key
        self.addedAt = addedAt
        self.endedAt = endedAt
    }

    fileprivate init(_ snapshot: DownloadSnapshot, _ row: CatalogueRow) {
        self.init(snapshot, session: row.session, key: row.key, addedAt: row.createdAt, endedAt: row.endedAt)
    }
}

extension DownloadManager {
    /// The current rows of the downloads `ids`, in this order, and the position of the log up to which the rows are current.
    /// Downloads that are not listed are omitted. Stored rows are read only for downloads that are not in memory.
    package func listedRows(
        _ ids: [DownloadID]
    ) async throws(DownloadError) -> (rows: [ListedRow], position: UInt64) {
        try await local.listedRows(ids)
    }

    /// The current state of the download of a stored row.
    package func listedRow(_ row: CatalogueRow) -> ListedRow {
        scheduler?.listedRow(row)
            ?? ListedRow(
                DownloadSnapshot(status: row.status, request: row.request(with: nil), finished: row.finished), row)
    }

    /// The sessions of downloads, read in the same way as by ``listedRows(_:)``; downloads that are not listed are omitted.
    package func sessions(of ids: [DownloadID]) async throws(DownloadError) -> [DownloadID: String] {
        try await local.sessions(of: ids)
    }

    /// The place of a download that waits for a slot: the number of downloads that get a slot before it, the number of running
    /// downloads, and the number of slots. `nil` for any other download.
    package func slotPlace(of id: DownloadID) -> (before: Int, running: Int, limit: Int)? {
        scheduler?.queue.place(of: id)
    }
}

extension Scheduler {
    fileprivate func listedRows(
        _ ids: [DownloadID]
    ) async throws(DownloadError) -> (rows: [ListedRow], position: UInt64) {
        let store = try await opened()
        // Read the position before the objects and the rows, so that these are at least as new.
        let position = log.position
        var found: [DownloadID: ListedRow] = [:]
        for id in ids { found[id] = shown(id) }
        let others = ids.filter { found[$0] == nil }
        if !others.isEmpty { for row in try await store.rows(others) { found[row.id] = listedRow(row) } }
        return (ids.compactMap { found[$0] }, position)
    }

    fileprivate func sessions(of ids: [DownloadID]) async throws(DownloadError) -> [DownloadID: String] {
        let store = try await opened()
        var found: [DownloadID: String] = [:]
        for id in ids { found[id] = queue.listed(id)?.live.session }
        let others = ids.filter { found[$0] == nil }
        if !others.isEmpty { for row in try await store.rows(others) { found[row.id] = row.session } }
        return found
    }

    fileprivate func listedRow(_ row: CatalogueRow) -> ListedRow {
        shown(row.id) ?? ListedRow(snapshot(of: row), row)
    }

    /// A listed download as its object shows it; `nil` if it is not in memory.
    private func shown(_ id: DownloadID) -> ListedRow? {
        guard let (live, key) = queue.listed(id), let addedAt = live.addedAt else { return nil }
        let (snapshot, endedAt) = live.listing
        return ListedRow(snapshot, session: live.session, key: key, addedAt: addedAt, endedAt: endedAt)
    }
}

extension DownloadRequest.Destination {
    /// The directory of the destination, absolute in a listed request; `nil` for a stream.
    package var directory: String? {
        switch self {
        case .directory(let path, _): path
        case .file(let path), .part(let path): Paths.parent(of: path)
        case .stream: nil
        }
    }
}
