package import FerryCore
import Synchronization
import SystemPackage

/// A publication that was cut off.
extension DownloadDriver {
    /// Moving was cut: where it is now, when that is elsewhere.
    func settleMove(
        _ paths: DownloadPaths, _ record: inout JournalRecord, _ journal: Journal
    ) throws(DownloadError) -> DownloadPaths? {
        let there: DownloadPaths?
        do throws(JournalError) {
            there = try PartialDownloadMover(fileSystem: fileSystem).resolve(paths, &record, journal)
        } catch { throw DownloadError(error) }
        guard let there else { return nil }
        environment.knownJournals(in: paths.directory)?.remove(paths.journal)
        report(.event(.note(Reason(.wasMovedTo, "\(there.directory)"))))
        return there
    }

    /// Publishing was cut: finish it, or do it again.
    func recover(
        _ publishing: JournalRecord.Publishing, paths: DownloadPaths, record: inout JournalRecord
    ) throws(DownloadError) -> FinishedDownload? {
        let publisher = Publisher(
            fileSystem: fileSystem, syncs: request.syncsToDisk, numbered: SafeName.numbered)
        let recovery: Publisher.Recovery
        do throws(FileError) {
            recovery = try publisher.recover(publishing, part: paths.part, unsyncedBoot: record.unsyncedBoot)
        } catch { throw DownloadError(error) }
        switch recovery {
        case .finished(let path):
            report(.event(.note(Reason(.publishingCut))))
            // A digest that it has in its journal was compared before the name was announced.
            let wasCompared = record.checksum ?? record.offered != nil
            return FinishedDownload(
                path: path.string, totalBytes: publishing.length,
                proof: wasCompared ? .digest : record.weakestJoin ?? .single, wasAlreadyComplete: true,
                contentType: record.identity.contentType, etag: record.identity.etag,
                lastModified: record.identity.lastModified)
        case .unproven(_, let reason):
            report(.event(.note(reason)))
            // Length and validators are those that it was given: they would prove it.
            state.withLock { $0.distrustsFinished = true }
            record.publishing = nil
            return nil
        case .again:
            record.publishing = nil
            return nil
        case .lost(let reason):
            report(.event(.note(Reason(.publishingLost, reason))))
            record.publishing = nil
            return nil
        }
    }

    /// A file that an earlier run had finished: compared with the digest that is asked for now, told, and its journal
    /// goes; `nil` when it has another digest and is fetched again.
    func settle(
        _ finished: FinishedDownload, _ record: JournalRecord, _ journal: Journal, _ paths: DownloadPaths
    ) async throws(DownloadError) -> FinishedDownload? {
        guard isAskedFor(record) else { return try await prove(finished, record, journal, paths) }
        var answer: FinishedDownload? = finished
        do throws(DownloadError) {
            if request.checksum != nil || request.checksumList != nil {
                answer = try await lookForFinished(FilePath(finished.path), isOwn: true)
            }
            if let answer { try await tellPublished(answer) }
        } catch {
            journal.close()
            throw error
        }
        removeRest(of: paths, journal, record, syncs: request.syncsToDisk)
        return answer
    }

    /// The file has its name, says a journal that nobody asked for by its URL: that says no more than the file itself. It is
    /// compared with the digest, or its server is asked, as if there had been no journal.
    private func prove(
        _ finished: FinishedDownload, _ record: JournalRecord, _ journal: Journal, _ paths: DownloadPaths
    ) async throws(DownloadError) -> FinishedDownload? {
        let path = FilePath(finished.path)
        if request.sources.isEmpty {
            let known = record.urls.compactMap { try? DownloadURL($0) }
            guard !known.isEmpty else {
                journal.close()
                throw DownloadError(.invalidRequest, ErrorPhrase(.journalWithoutURL, "\(paths.journal)"))
            }
            state.withLock { state in
                state.sources = known
                state.checksum = request.checksum ?? record.checksum.flatMap { try? Checksum(parsing: $0) }
            }
        }
        state.withLock { state in
            state.finishedPath = path
            state.name = path.lastComponent?.string ?? state.name
        }
        removeRest(of: paths, journal, record, syncs: request.syncsToDisk)
        return try await lookForFinished(path, isOwn: true)
    }

    /// The file has its name: what was aside goes, and the journal after it, so that a run after a crash in between knows
    /// of both. Where one cannot be removed the journal stays, for the next run to try again.
    func removeRest(of paths: DownloadPaths, _ journal: Journal, _ record: JournalRecord, syncs: Bool) {
        do throws(FileError) {
            try BackupPair(paths, fileSystem: fileSystem, syncs: false).remove(of: asideOwner(record))
        } catch { return journal.close() }
        try? journal.remove(syncs: syncs)
        environment.knownJournals(in: paths.directory)?.remove(paths.journal)
    }

    /// Whether a small file that was announced did get its name; the name is durable then. Blocks.
    ///
    /// `syncs` as in the request: what was written without syncing is not believed.
    package static func recoverAnnounced(
        _ file: PublishedFile, syncs: Bool, fileSystem: any FileSystem = LocalFileSystem()
    ) throws(DownloadError) -> Bool {
        guard syncs, file.isUnchanged(for: .content, fileSystem: fileSystem) else { return false }
        do throws(FileError) {
            try fileSystem.syncDirectory(FilePath(file.path).removingLastComponent())
        } catch {
            guard error.kind == .unsupported else { throw DownloadError(error) }
        }
        return true
    }
}
