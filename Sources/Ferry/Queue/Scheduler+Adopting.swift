import FerryCore
import FerryEngine
import SystemPackage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Adds partial downloads, from a part file or from resume data.
extension Scheduler {
    /// Adds the download of a part file to the list, under the identifier in its journal.
    func adopt(_ path: String) async throws(DownloadError) -> LiveDownload { try await adopt(path, session: nil) }

    func adopt(_ path: String, session: String?) async throws(DownloadError) -> LiveDownload {
        _ = try await opened()
        let found = try await find(path)
        let store = try await beginListing([found.record.network?.restrictions ?? NetworkRule()])
        defer { listLock.release() }
        if let listed = try await live(DownloadID(rawValue: found.record.id), in: store) {
            guard session == nil || listed.session == session else {
                throw DownloadError(.conflict, ErrorPhrase(.belongsToAnother, path), recovery: .needsUser)
            }
            return listed
        }
        return try await list(found, session, in: store)
    }

    private static let wasUsed = DownloadError(
        .notResumable, ErrorPhrase(.resumeDataUsed), recovery: .needsUser)

    func add(
        resumingWith data: ResumeData, session: String?
    ) async throws(DownloadError) -> LiveDownload {
        let store = try await opened()
        if try await store.row(data.id) != nil { throw Self.wasUsed }
        let data = await located(data)
        let found: PartFiles.Found
        do throws(DownloadError) { found = try await find(data.partPath) } catch {
            return try await beginAnew(data, session, because: error.reason)
        }
        guard found.record.id == data.id.rawValue else {
            return try await beginAnew(data, session, because: Reason(.isAnothersNow, data.partPath))
        }
        _ = try await beginListing([found.record.network?.restrictions ?? NetworkRule()])
        defer { listLock.release() }
        // Check again while the lock is held, because a concurrent call may have used the same data.
        if try await store.row(data.id) != nil { throw Self.wasUsed }
        return try await list(found, session, in: store)
    }

    /// Returns the data with the current path of its part file if the manager's directory has moved since the data was created.
    private func located(_ data: ResumeData) async -> ResumeData {
        guard case .catalogue(_, let directory, _) = configuration.storage, let moved = data.moved(to: directory),
            moved.partPath != data.partPath
        else { return data }
        let (old, new) = (FilePath(data.partPath), FilePath(moved.partPath))
        return await withFiles { files in
            // A path that cannot be inspected, such as one in another container, counts as missing.
            let isThere = (try? files.exists(old)) ?? false
            return !isThere && (try? files.exists(new)) == true ? moved : data
        }
    }

    /// Starts over because the part file cannot be used, and reports the reason in an event.
    private func beginAnew(
        _ data: ResumeData, _ session: String?, because reason: Reason
    ) async throws(DownloadError) -> LiveDownload {
        // Resume data is neither secret nor authenticated, so it must not choose the directory of a new file.
        guard await hasUsed(directory: data.partDirectory) else {
            throw DownloadError(
                .notResumable, ErrorPhrase(.unknownPlace, data.partPath), suggestion: ErrorPhrase(.beginInstead),
                recovery: .needsUser)
        }
        var request = DownloadRequest(
            sources: data.sources,
            destination: .file(data.partPath.dropping(suffix: ReservedName.part.text).map(String.init) ?? data.partPath)
        )
        request.checksum = data.checksum
        request.id = data.id
        request.onDuplicate = .addAnother
        request.session = session
        request = try request.checked()
        try await WritableDirectories().check([request.destination])
        let added = try await add([request])[0]
        happened(.restarted(reason: reason), to: added.id)
        return added
    }

    /// Whether the directory belongs to this manager, or to a download that is listed or was removed with resume data.
    private func hasUsed(directory: String) async -> Bool {
        let wanted = FilePath(directory).lexicallyNormalized()
        if takenDirectories.contains(wanted) { return true }
        var known = configuration.hosted.directories
        if case .catalogue(_, let own, _) = configuration.storage { known.append(own) }
        if known.contains(where: { FilePath($0).lexicallyNormalized() == wanted }) { return true }
        guard let store, let ids = try? await store.load().map(\.id) else {
            return false
        }
        for start in stride(from: 0, to: ids.count, by: 1000) {
            let rows = (try? await store.rows(Array(ids[start..<min(ids.count, start + 1000)]))) ?? []
            for case let place? in rows.map(\.directory) where FilePath(place).lexicallyNormalized() == wanted {
                return true
            }
        }
        return false
    }

    private func find(_ path: String) async throws(DownloadError) -> PartFiles.Found {
        try await withFiles { files throws(DownloadError) in try PartFiles.find(at: path, fileSystem: files) }
    }

    private func list(
        _ found: PartFiles.Found, _ session: String?, in store: any DownloadStore
    ) async throws(DownloadError) -> LiveDownload {
        guard var row = CatalogueRow(found, reserve: configuration.minFreeBytes, at: clock.date()) else {
            throw DownloadError(.notResumable, ErrorPhrase(.journalWithoutURL, found.part))
        }
        row.session = session ?? configuration.storage.identifier ?? ""
        // Adopting a part file starts its download, even if the download was paused.
        row.state = .waiting(.slot)
        let priority = DownloadPriority(rawValue: row.key.priority)
        row.key = queue.takeKey(priority)
        let (id, syncs) = (row.id, row.request.syncsToDisk)
        await withFiles { PartFiles.enlist(found.part, by: id, syncs: syncs, fileSystem: $0) }
        try await store.commit([.insert([row])])
        let live = enter([row], [:])[0]
        reschedule()
        showStandings(of: [live])
        return live
    }
}

extension CatalogueRow {
    /// A row from a journal; `nil` if the journal contains no URL or an unusable identifier. `reserve` is the free space that the
    /// manager preserves.
    init?(_ found: PartFiles.Found, reserve: ByteCount?, at date: Date) {
        let record = found.record
        let sources = record.urls.compactMap { try? DownloadURL($0) }
        guard !sources.isEmpty, DownloadID(rawValue: record.id).canBeStored else { return nil }
        let path = found.directory + "/" + record.name
        // Most downloads are requested with only a directory; this form lets a repeated request find them.
        let isSuggested = SafeName.make(nil, url: sources[0], finalURL: nil) == record.name
        var request = DownloadRequest(
            sources: sources, destination: isSuggested ? .directory(found.directory) : .file(path))
        request.checksum = record.checksum.flatMap { try? Checksum(parsing: $0) }
        record.rules?.apply(to: &request)
        let overwrites = request.onConflict == .overwrite
        if overwrites, found.replaces == nil { request.onConflict = .rename }
        if let least = request.minFreeBytes, least < reserve ?? DirectorySpace.mostReserve {
            request.minFreeBytes = nil
        }
        if let trust = record.trust { request.trust = trust.restrictions }
        request.rateLimit = record.rateLimit
        if let most = record.maxConnections { request.maxConnections = max(1, most) }
        if let network = record.network { request.network = network.restrictions }
        // A part file that the user moved out of its root is no longer confined.
        request.root = record.root.flatMap { Paths.isPlace(found.directory, in: $0) ? $0 : nil }
        self.init(
            id: DownloadID(rawValue: record.id), session: record.session ?? "",
            key: QueueKey(priority: record.priority ?? 0, position: Int64(record.position ?? 0)),
            state: record.isPaused == true ? .paused : .waiting(.slot), name: record.name, path: path, part: found.part,
            completedBytes: found.claimedBytes, totalBytes: record.totalBytes,
            request: request.stored, hasSecrets: Secrets(of: request) != nil, label: record.label,
            userInfo: record.userInfo ?? [:],
            createdAt: Date(timeIntervalSince1970: record.createdAt).asStored,
            published: overwrites ? nil : found.replaces)
    }
}

// A journal may come from an archive of another user, so only its restrictions are trusted. A file is replaced only if the journal
// has its fingerprint, which only a journal of this machine has.

extension TrustRules {
    /// The rules that are stricter than the defaults; permissions are omitted.
    fileprivate var restrictions: TrustRules {
        var rules = TrustRules()
        (rules.strict, rules.failsOnChange) = (strict, failsOnChange)
        return rules
    }
}

extension NetworkRule {
    /// The prohibitions in the rule; permissions are omitted.
    fileprivate var restrictions: NetworkRule {
        NetworkRule(
            allowsMetered: allowsMetered == false ? false : nil,
            allowsConstrained: allowsConstrained == false ? false : nil,
            allowsPrivate: allowsPrivate == false ? false : nil)
    }
}

extension ResumeData {
    /// The resume data of a part file.
    init(_ found: PartFiles.Found, in directory: String?, at date: Date) throws(DownloadError) {
        let record = found.record
        try self.init(
            id: DownloadID(rawValue: record.id), sources: record.urls.compactMap { try? DownloadURL($0) },
            partPath: found.part, relativePath: directory.flatMap { Self.path(found.part, below: $0) },
            totalBytes: record.totalBytes, completedBytes: found.claimedBytes,
            etag: record.identity.etag, lastModified: record.identity.lastModified,
            checksum: record.checksum.flatMap { try? Checksum(parsing: $0) }, created: date)
    }
}
