package import Ferry
package import FerryAPI
package import FerryCore
import HTTPTypes

extension DownloadManager {
    /// Returns the current state of these downloads, in this order and in the form of the API's lists and events, with the log
    /// position that the state reflects. Downloads that are not listed are omitted.
    ///
    /// - Parameter hasHandle: Whether the properties of a library handle are included.
    package func listed(
        _ ids: [DownloadID], hasHandle: Bool = false
    ) async throws(DownloadError) -> [ListedDownload] {
        let (rows, position) = try await listedRows(ids)
        return rows.map { ListedDownload($0, asOf: position, hasHandle: hasHandle) }
    }

    /// Returns a row in the form of the API's lists and events; the state in memory takes precedence over the row.
    ///
    /// - Parameters:
    ///   - position: The value of ``position`` before the row was read.
    ///   - hasHandle: Whether the properties of a library handle are included.
    package func listed(_ row: CatalogueRow, asOf position: UInt64, hasHandle: Bool = false) -> ListedDownload {
        ListedDownload(listedRow(row), asOf: position, hasHandle: hasHandle)
    }

    /// Returns all details of a download, with the parameters of ``listed(_:asOf:hasHandle:)``; leaves `speeds` empty.
    package func detail(
        of row: CatalogueRow, asOf position: UInt64, hasHandle: Bool = false
    ) async -> DownloadDetail {
        let shown = listedRow(row)
        var detail = DownloadDetail(ListedDownload(shown, asOf: position, hasHandle: hasHandle))
        let picture = await self.picture(of: row)
        detail.sources = row.request.sources.map(\.text)
        detail.headers = shown.snapshot.request.headers.map(\.name.rawName)
        if row.request.trust.resumesUnproven { detail.resumesUnproven = true }
        let connection = row.request.connection
        detail.proxy = connection.proxy?.description
        if connection.certificates != nil { detail.hasCertificates = true }
        if connection.insecure { detail.insecure = true }
        (detail.maxBytes, detail.maxRetries) = (row.request.maxBytes, row.request.maxRetries)
        if detail.download.status.state == .waiting(.slot), let place = slotPlace(of: row.id) {
            detail.queue = DownloadDetail.Queue(before: place.before, running: place.running, limit: place.limit)
        }
        if let picture { detail.download.validator = picture.identity.etag ?? picture.identity.lastModified }
        detail.response = DownloadDetail.Response(
            type: row.finished?.contentType ?? picture?.identity.contentType,
            // Empty if the file was complete without a response.
            finalURL: row.finished.map(\.redactedFinalURL).flatMap { $0.isEmpty ? nil : $0 } ?? picture?.finalURL,
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

extension ListedDownload {
    fileprivate init(_ row: ListedRow, asOf position: UInt64, hasHandle: Bool) {
        let shown = row.snapshot
        let request = shown.request.withoutSecrets
        self.init(
            status: shown.status, session: row.session, url: request.sources.first?.text ?? "", addedAt: row.addedAt)
        self.asOf = position
        if hasHandle { self.handle = HandleBody(finished: shown.finished, request: request.isStream ? nil : request) }
        self.directory = shown.status.path.map(Paths.parent) ?? request.destination.directory
        self.position = Int(clamping: row.key.position)
        self.priority = DownloadPriority(rawValue: row.key.priority)
        self.label = request.label
        self.userInfo = request.userInfo
        self.checksum = request.checksum
        self.rateLimit = request.rateLimit
        self.maxConnections = request.maxConnections
        self.onConflict = request.onConflict == .rename ? nil : request.onConflict
        self.network = request.network
        self.endedAt = row.endedAt
        switch status.state {
        case .waiting, .paused, .failed: self.notBefore = request.notBefore
        case .completed:
            self.validator = shown.finished.flatMap { $0.etag ?? $0.lastModified }
            if shown.finished?.wasAlreadyComplete == true { self.wasAlreadyComplete = true }
        case .downloading, .verifying, .cancelled: break
        }
    }
}

extension TransferPicture {
    /// The byte ranges of the whole file with their states, sorted and without gaps; while the size is unknown, they end at the
    /// last known byte.
    fileprivate var segments: [DownloadDetail.Segment] {
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
