package import FerryCore
import Synchronization
import SystemPackage

/// Recovery of interrupted moves and publications.
extension DownloadDriver {
    /// Resolves an interrupted move. Returns the new paths if the files are in the other directory.
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

    /// Completes an interrupted publication, or returns `nil` if the file must be published or fetched again.
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
            // A digest in the journal was compared before the name was announced.
            let wasCompared = record.checksum ?? record.offered != nil
            return FinishedDownload(
                path: path.string, totalBytes: publishing.length,
                proof: wasCompared ? .digest : record.weakestJoin ?? .single, wasAlreadyComplete: true,
                contentType: record.identity.contentType, etag: record.identity.etag,
                lastModified: record.identity.lastModified)
        case .unproven(_, let reason):
            report(.event(.note(reason)))
            // Ferry itself set the file's length and validators, so they prove nothing about its bytes.
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

    /// Compares a file that an earlier run published with the digest requested now, reports it and removes its
    /// journal. Returns `nil` if the digest differs and the file must be fetched again.
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

    /// Verifies the file of a journal that the request did not name by its URL. Such a journal proves no more than
    /// the file itself, so the digest is compared or the server asked, as if there were no journal.
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

    /// Removes the rest of a published download: first the backup, then the journal, through which a run after a
    /// crash finds both. If the backup cannot be removed, the journal stays for the next run.
    func removeRest(of paths: DownloadPaths, _ journal: Journal, _ record: JournalRecord, syncs: Bool) {
        do throws(FileError) {
            try BackupPair(paths, fileSystem: fileSystem, syncs: false).remove(of: asideOwner(record))
        } catch { return journal.close() }
        try? journal.remove(syncs: syncs)
        environment.knownJournals(in: paths.directory)?.remove(paths.journal)
    }

    /// Returns whether an announced small file got its name, which is then durable. Blocks.
    ///
    /// `syncs`: as in the request. A file that was written without syncing is not trusted.
    package static func recoverAnnounced(
        _ file: PublishedFile, syncs: Bool, fileSystem: any FileSystem = LocalFileSystem()
    ) throws(DownloadError) -> Bool {
        guard syncs, file.isUnchanged(for: .content, fileSystem: fileSystem) else { return false }
        do throws(FileError) {
            try fileSystem.syncDirectoryIfSupported(FilePath(file.path).parent)
        } catch { throw DownloadError(error) }
        return true
    }
}
