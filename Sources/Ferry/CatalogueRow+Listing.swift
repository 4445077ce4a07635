package import FerryAPI
import FerryCore
import FerryEngine
import HTTPTypes

extension DownloadManager {
    /// A row in the form of the API's lists and events.
    ///
    /// - Parameters:
    ///   - position: ``position`` from before the row was read.
    ///   - hasHandle: Whether the properties of a library handle are included.
    package func listed(_ row: CatalogueRow, asOf position: UInt64, hasHandle: Bool = false) -> ListedDownload {
        let request = row.request
        let snapshot = hasHandle ? scheduler?.snapshot(of: row) : nil
        var listed = ListedDownload(
            status: snapshot?.status ?? status(of: row), session: row.session, url: request.sources.first?.text ?? "",
            addedAt: row.createdAt)
        listed.asOf = position
        if let snapshot {
            let isStream = if case .stream = snapshot.request.destination { true } else { false }
            listed.handle = HandleBody(
                finished: snapshot.finished, request: isStream ? nil : snapshot.request.withoutSecrets)
        }
        listed.directory = row.directory
        listed.position = Int(clamping: row.key.position)
        listed.priority = DownloadPriority(rawValue: row.key.priority)
        listed.label = row.label
        listed.userInfo = row.userInfo
        listed.checksum = request.checksum
        listed.rateLimit = request.rateLimit
        listed.maxConnections = request.maxConnections
        listed.onConflict = request.onConflict == .rename ? nil : request.onConflict
        listed.network = request.network
        listed.endedAt = row.endedAt
        if case .completed = listed.status.state {
            listed.validator = row.finished.flatMap { $0.etag ?? $0.lastModified }
            if row.finished?.wasAlreadyComplete == true { listed.wasAlreadyComplete = true }
        }
        return listed
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
        if detail.download.status.state == .waiting(.slot) { detail.queue = scheduler?.place(of: row.id) }
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
