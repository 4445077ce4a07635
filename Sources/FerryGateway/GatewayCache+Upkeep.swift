import Ferry
import FerryAPI
import FerryCore
import Logging

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The commands of users: listing the content of the cache, removing files, and comparing files with their digests.
extension GatewayCache {
    func usage() async throws(DownloadError) -> GatewayUsage {
        var usage = GatewayUsage(directory: directory)
        for row in try await rows() {
            usage.files += 1
            usage.bytes = usage.bytes.adding(row.completedBytes)
            if !isComplete(row) { usage.unfinished += 1 }
            if uses.isHeld(row.id) { usage.inUse += 1 }
        }
        usage.limitBytes = size
        usage.keptSeconds = age / .seconds(1)
        let found = await onFileThread { [space, directory] in space(directory) }
        (usage.freeBytes, usage.reservedBytes) = (found?.free, found?.reserve)
        return usage
    }

    /// Returns the files, the most recently used first.
    func entries() async throws(DownloadError) -> [GatewayEntry] {
        let uses = uses.all
        return try await rows().map { entry($0, uses) }.sorted { ($0.usedAt, $0.id) > ($1.usedAt, $1.id) }
    }

    /// Removes the selected files. Throws `notFound` for a word that matches no file, and `invalidRequest` unless exactly one
    /// member selects files.
    func purge(_ body: PurgeBody) async throws(DownloadError) -> PurgeReport {
        let given = [body.words?.isEmpty == false, body.olderThan != nil, body.all == true].filter(\.self)
        let age = body.olderThan.map { $0.isFinite && $0 >= 0 } ?? true
        guard given.count == 1, age else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.purgeWithoutFiles), recovery: .needsUser)
        }
        await sweeping.acquire()
        defer { sweeping.release() }
        let rows = try await rows()
        let uses = uses.all
        let chosen: [CatalogueRow]
        if let words = body.words, !words.isEmpty {
            chosen = try self.chosen(words, among: rows)
        } else if let seconds = body.olderThan {
            let now = Date().timeIntervalSince1970
            chosen = rows.filter { now - GatewayUses.use(of: $0, uses) > seconds }
        } else {
            chosen = rows
        }
        var report = PurgeReport()
        for row in chosen {
            let entry = entry(row, uses)
            if !isRunning(row), await remove(row, .purged) {
                report.removed.append(entry)
            } else {
                report.kept.append(entry)
            }
        }
        ends.notify()
        return report
    }

    /// Reads every complete file and compares it with its digest. A file with wrong bytes is removed from the cache, or fetched
    /// again if a client is reading it.
    func verify() async throws(DownloadError) -> VerifyReport {
        var report = VerifyReport()
        for row in try await rows() where isComplete(row) {
            guard !Task.isCancelled else { break }
            guard let download = try await manager.download(id: row.id) else { continue }
            switch try await manager.compare(download) {
            case .intact?:
                report.intact += 1
                report.intactBytes = report.intactBytes.adding(row.completedBytes)
            case .damaged?:
                logger.warning(
                    "a file of the gateway has not its digest any more",
                    metadata: ["id": "\(row.id)", "name": "\(GatewayText.visible(row.fileName))"])
                report.damaged.append(entry(row, uses.all))
                if await !remove(row, .damaged) { try await fetchAgain(download) }
            case .unknown?: report.unverified += 1
            // The download is no longer complete.
            case nil: break
            }
        }
        ends.notify()
        return report
    }

    // MARK: Rows

    private func rows() async throws(DownloadError) -> [CatalogueRow] {
        var rows: [CatalogueRow] = []
        try await manager.forEachBatch(of: RowFilter(session: Self.session)) { rows += $0 }
        return rows
    }

    private func isComplete(_ row: CatalogueRow) -> Bool {
        if case .completed = manager.status(of: row).state { true } else { false }
    }

    private func entry(_ row: CatalogueRow, _ uses: [String: Double]) -> GatewayEntry {
        let status = manager.status(of: row)
        let checksum = row.finished?.checksum ?? row.request.checksum
        return GatewayEntry(
            id: row.id.rawValue, name: row.fileName, url: row.request.sources.first?.redacted ?? "",
            state: status.state.kind.rawValue, bytes: status.progress.completedBytes,
            checksum: checksum.map { "\($0)" }, addedAt: row.createdAt,
            usedAt: Date(timeIntervalSince1970: GatewayUses.use(of: row, uses)), isInUse: self.uses.isHeld(row.id))
    }

    /// Returns the files that match words. A word selects all files with that name, or else the file whose identifier begins with
    /// the word, with or without `gateway-`.
    private func chosen(_ words: [String], among rows: [CatalogueRow]) throws(DownloadError) -> [CatalogueRow] {
        var chosen: [CatalogueRow] = []
        var known: Set<DownloadID> = []
        for word in words {
            var found = rows.filter { $0.fileName.hasSameBytes(as: word) || $0.label?.hasSameBytes(as: word) == true }
            if found.isEmpty, !word.isEmpty {
                found = rows.filter { row in
                    row.id.rawValue.utf8.hasPrefix(word) || row.id.rawValue.utf8.hasPrefix("gateway-" + word)
                }
                guard found.count < 2 else {
                    throw DownloadError(
                        .invalidRequest, ErrorPhrase(.severalInCache, ForeignText.quote(word), "\(found.count)"),
                        recovery: .needsUser)
                }
            }
            guard !found.isEmpty else {
                throw DownloadError(
                    .notFound, ErrorPhrase(.notInCache, ForeignText.quote(word)), suggestion: ErrorPhrase(.listGateway),
                    recovery: .needsUser)
            }
            chosen += found.filter { known.insert($0.id).inserted }
        }
        return chosen
    }
}
