package import FerryAPI
import FerryCore
import FerryEngine
import HTTPTypes

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

extension DownloadManager {
    /// Downloads as they are now, in the form of the API's lists and events and in this order, with the position that they
    /// are as new as. Those that are not listed are omitted.
    ///
    /// What is in memory (a download that runs, has a handle, or is in the updates that a listener has just received) is
    /// shown by its object; rows are read of the others alone.
    ///
    /// - Parameter hasHandle: Whether the properties of a library handle are included.
    package func listed(
        _ ids: [DownloadID], hasHandle: Bool = false
    ) async throws(DownloadError) -> [ListedDownload] {
        try await local.listed(ids, hasHandle: hasHandle)
    }

    /// The sessions of downloads, read as by ``listed(_:hasHandle:)``; those that are not listed are omitted.
    package func sessions(of ids: [DownloadID]) async throws(DownloadError) -> [DownloadID: String] {
        try await local.sessions(of: ids)
    }

    /// A row in the form of the API's lists and events; the state in memory takes precedence over the row.
    ///
    /// - Parameters:
    ///   - position: ``position`` from before the row was read.
    ///   - hasHandle: Whether the properties of a library handle are included.
    package func listed(_ row: CatalogueRow, asOf position: UInt64, hasHandle: Bool = false) -> ListedDownload {
        scheduler?.listed(row, asOf: position, hasHandle: hasHandle)
            ?? ListedDownload(
                DownloadSnapshot(status: row.status, request: row.request(with: nil), finished: row.finished), row,
                asOf: position, hasHandle: hasHandle)
    }

    /// The ranges of a download's file that are written, and the URL that its redirects led to; `nil` if unknown.
    package func ranges(of row: CatalogueRow) async -> (written: RangeSet<ByteCount>, finalURL: String?)? {
        await picture(of: row).map { ($0.written, $0.finalURL) }
    }

    /// All details of a download, with the parameters of ``listed(_:asOf:hasHandle:)``; leaves `speeds` empty.
    package func detail(
        of row: CatalogueRow, asOf position: UInt64, hasHandle: Bool = false
    ) async -> DownloadDetail {
        var detail = DownloadDetail(listed(row, asOf: position, hasHandle: hasHandle))
        let picture = await self.picture(of: row)
        detail.sources = row.request.sources.map(\.text)
        detail.headers = row.request.headers.map(\.name.rawName)
        if row.request.trust.resumesUnproven { detail.resumesUnproven = true }
        let connection = row.request.connection
        detail.proxy = connection.proxy?.description
        if connection.certificates != nil { detail.hasCertificates = true }
        if connection.insecure { detail.insecure = true }
        if detail.download.status.state == .waiting(.slot) { detail.queue = scheduler?.queue.place(of: row.id) }
        if let live = scheduler?.known(row.id) { detail.headers = live.request.headers.map(\.name.rawName) }
        if let picture { detail.download.validator = picture.identity.etag ?? picture.identity.lastModified }
        detail.response = DownloadDetail.Response(
            type: row.finished?.contentType ?? picture?.identity.contentType,
            finalURL: row.finished?.redactedFinalURL ?? picture?.finalURL,
            lastModified: picture?.identity.lastModified ?? row.finished?.lastModified,
            lacksRanges: picture?.lacksRanges == true ? true : nil)
        if let picture {
            detail.segments = picture.segments
        } else if case .completed = row.state, let total = row.totalBytes, total > 0 {
            detail.segments = [DownloadDetail.Segment(start: 0, end: total, state: "done")]
        }
        return detail
    }
}

extension Scheduler {
    fileprivate func listed(
        _ ids: [DownloadID], hasHandle: Bool
    ) async throws(DownloadError) -> [ListedDownload] {
        let store = try await opened()
        // Before objects and rows are read: they are as new, or newer.
        let position = log.position
        var found: [DownloadID: ListedDownload] = [:]
        for id in ids { found[id] = shown(id, asOf: position, hasHandle: hasHandle) }
        let others = ids.filter { found[$0] == nil }
        if !others.isEmpty {
            for row in try await store.rows(others) {
                found[row.id] = listed(row, asOf: position, hasHandle: hasHandle)
            }
        }
        return ids.compactMap { found[$0] }
    }

    fileprivate func sessions(of ids: [DownloadID]) async throws(DownloadError) -> [DownloadID: String] {
        let store = try await opened()
        var found: [DownloadID: String] = [:]
        for id in ids { found[id] = queue.listed(id)?.live.session }
        let others = ids.filter { found[$0] == nil }
        if !others.isEmpty { for row in try await store.rows(others) { found[row.id] = row.session } }
        return found
    }

    fileprivate func listed(_ row: CatalogueRow, asOf position: UInt64, hasHandle: Bool) -> ListedDownload {
        shown(row.id, asOf: position, hasHandle: hasHandle)
            ?? ListedDownload(snapshot(of: row), row, asOf: position, hasHandle: hasHandle)
    }

    /// A listed download as its object shows it; `nil` if it is not in memory.
    private func shown(_ id: DownloadID, asOf position: UInt64, hasHandle: Bool) -> ListedDownload? {
        guard let (live, key) = queue.listed(id), let addedAt = live.addedAt else { return nil }
        let (snapshot, endedAt) = live.listing
        return ListedDownload(
            snapshot, session: live.session, key: key, addedAt: addedAt, endedAt: endedAt, asOf: position,
            hasHandle: hasHandle)
    }
}

extension ListedDownload {
    fileprivate init(
        _ shown: DownloadSnapshot, _ row: CatalogueRow, asOf position: UInt64, hasHandle: Bool
    ) {
        self.init(
            shown, session: row.session, key: row.key, addedAt: row.createdAt, endedAt: row.endedAt, asOf: position,
            hasHandle: hasHandle)
    }

    fileprivate init(
        _ shown: DownloadSnapshot, session: String, key: QueueKey, addedAt: Date, endedAt: Date?,
        asOf position: UInt64, hasHandle: Bool
    ) {
        let request = shown.request.withoutSecrets
        self.init(
            status: shown.status, session: session, url: request.sources.first?.text ?? "", addedAt: addedAt)
        self.asOf = position
        if hasHandle { self.handle = HandleBody(finished: shown.finished, request: request.isStream ? nil : request) }
        self.directory = shown.status.path.map(Paths.parent) ?? request.destination.directory
        self.position = Int(clamping: key.position)
        self.priority = DownloadPriority(rawValue: key.priority)
        self.label = request.label
        self.userInfo = request.userInfo
        self.checksum = request.checksum
        self.rateLimit = request.rateLimit
        self.maxConnections = request.maxConnections
        self.onConflict = request.onConflict == .rename ? nil : request.onConflict
        self.network = request.network
        self.endedAt = endedAt
        if case .completed = status.state {
            self.validator = shown.finished.flatMap { $0.etag ?? $0.lastModified }
            if shown.finished?.wasAlreadyComplete == true { self.wasAlreadyComplete = true }
        }
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

extension TransferPicture {
    /// The byte ranges of the whole file with their states, sorted and without gaps; the end is the last known byte
    /// while the size is unknown.
    var segments: [DownloadDetail.Segment] {
        let end = totalBytes ?? max(written.ranges.last?.upperBound ?? 0, running.map(\.range.lowerBound).max() ?? 0)
        guard end > 0 else { return [] }
        var segments: [DownloadDetail.Segment] = []
        var position: ByteCount = 0
        func fill(to limit: ByteCount) {
            if position < limit {
                segments.append(DownloadDetail.Segment(start: position, end: limit, state: "missing"))
            }
            position = max(position, limit)
        }
        var pieces = written.ranges.map { (range: $0, connection: Int?.none) }
        pieces += running.map { (range: $0.range, connection: $0.connection) }
        pieces.sort { $0.range.lowerBound < $1.range.lowerBound }
        for piece in pieces {
            let start = max(position, piece.range.lowerBound)
            let stop = min(end, piece.range.upperBound)
            guard start < stop else { continue }
            fill(to: start)
            segments.append(
                DownloadDetail.Segment(
                    start: start, end: stop, state: piece.connection == nil ? "done" : "running",
                    connection: piece.connection))
            position = stop
        }
        fill(to: end)
        return segments
    }
}
