package import FerryCore
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// Finished files that exist already. Only files that pass the ownership check are accepted: any user can set a name,
/// a date or an attribute, and can change the bytes after they were compared.
extension DownloadDriver {
    /// Looks for a finished file at `path`. `isOwn`: this download published the file, according to its journal.
    func lookForFinished(
        _ path: FilePath, isOwn: Bool = false, _ disk: Disk
    ) async throws(DownloadError) -> FinishedDownload? {
        let copies = isOwn ? [] : self.copies(of: path, disk)
        for path in [path] + copies {
            if let finished = try await lookAtFinished(path, isOwn: isOwn, disk) { return finished }
            if stopWanted != nil || state.withLock({ $0.finished.known != nil }) { break }
        }
        begin(with: nil, finished: state.withLock { $0.finished.known })
        return nil
    }

    /// Returns the file at `path` if it is the result. Stores its validators if the server is to be asked about it.
    private func lookAtFinished(
        _ path: FilePath, isOwn: Bool, _ disk: Disk
    ) async throws(DownloadError) -> FinishedDownload? {
        guard isOwn || !context.ignoresFinished,
            let named = try? disk.fileSystem.statusIfPresent(path), named.kind == .regular
        else { return nil }
        let file = try? disk.fileSystem.openOurs(path, .readOnly, for: .content)
        defer { file?.close() }
        let status = try? file?.status()
        let url = sources[0]
        // The server may choose another name, and the checksum list may contain that one.
        try? await lookUpChecksum(for: namesBeforehand)
        if let checksum = state.withLock({ $0.digest.requested }), let file, let status {
            report(.state(.verifying))
            let actual = await digest(of: file, length: status.length, checksum.algorithm)
            if stopWanted != nil { return nil }
            if actual == checksum.bytes {
                return FinishedDownload(
                    path: path.string, totalBytes: status.length, proof: .digest, wasAlreadyComplete: true,
                    finalURL: url.redacted, checksum: checksum)
            }
            if request.onConflict == .skip {
                throw DownloadError(.conflict, ErrorPhrase(.otherDigest, "\(path)"), recovery: .needsUser)
            }
            report(.event(.note(Reason(.otherDigest, "\(path)"))))
        }
        if request.onConflict == .skip {
            report(.event(.note(Reason(.skipped, "\(path)"))))
            return FinishedDownload(
                path: path.string, totalBytes: named.length, proof: .none, wasAlreadyComplete: true,
                finalURL: url.redacted)
        }
        if state.withLock({ $0.digest.requested }) == nil, let file, let status,
            let attribute = SourceAttribute.read(file), attribute.matches(url: url.text, status)
        {
            let known = FileIdentity(
                etag: attribute.etag, lastModified: attribute.lastModified, totalBytes: status.length)
            // A 304 for a date or a weak tag proves no more than they do.
            if known.strongTag != nil || !request.trust.strict && known.hasValidator {
                state.withLock {
                    ($0.finished.path, $0.finished.known, $0.finished.checksum) = (path, known, attribute.checksum)
                }
            }
        }
        return nil
    }

    /// Returns the file that has the name of a partial download, if the rule `skip` leaves it there; throws if the rule is
    /// `fail`. The partial download stays, and not one more byte is fetched.
    func existing(
        instead paths: DownloadPaths, _ journal: Journal, _ disk: Disk
    ) async throws(DownloadError) -> FinishedDownload? {
        guard request.onConflict == .skip || request.onConflict == .fail, earlierFile(disk) != paths.final,
            (try? disk.fileSystem.exists(paths.final)) == true
        else { return nil }
        journal.close()
        if request.onConflict == .skip, let skipped = try await lookForFinished(paths.final, disk) { return skipped }
        throw DownloadError(.conflict, ErrorPhrase(.thereAlready, "\(paths.final)"), recovery: .needsUser)
    }

    /// Returns the file at `path` if it is complete as far as a plain GET can tell: equal length and equal
    /// modification time. A strong ETag stored in the file's attribute takes precedence.
    func existing(at path: FilePath, representation: Representation, _ disk: Disk) -> FinishedDownload? {
        guard !context.ignoresFinished, state.withLock({ $0.digest.requested == nil && !$0.finished.isDistrusted }),
            request.checksumList == nil, let total = representation.identity.totalBytes,
            let file = try? disk.fileSystem.openOurs(path, .readOnly, for: .content)
        else { return nil }
        defer { file.close() }
        guard let status = try? file.status(), status.length == total else { return nil }
        var found = FinishedDownload(
            path: path.string, totalBytes: total, proof: .weak, wasAlreadyComplete: true,
            finalURL: state.withLock { $0.links.finalURL?.redacted ?? "" },
            contentType: representation.identity.contentType,
            etag: representation.identity.etag, lastModified: representation.identity.lastModified)
        if let attribute = SourceAttribute.read(file), attribute.isOf(status) {
            // The file came from another URL, and different files may share length and date.
            guard attribute.matches(url: sources[0].text, status) else { return nil }
            if let tag = representation.identity.strongTag, let own = attribute.etag {
                found.proof = .strong
                found.checksum = attribute.checksum
                return own == tag ? found : nil
            }
        }
        // A size and a date prove nothing.
        guard !request.trust.strict, let text = representation.identity.lastModified, let date = HTTPDate.parse(text)
        else { return nil }
        return status.modified.seconds == Int64(date.timeIntervalSince1970) ? found : nil
    }

    private func digest(of file: any File, length: ByteCount, _ algorithm: DigestAlgorithm) async -> [UInt8]? {
        try? await read(to: length) { _ in PrefixDigest(algorithm, of: file) }?.finish()
    }

    /// Handles a 304 response: the finished file is unchanged.
    func finishUnchanged() {
        state.withLock { state in
            let path: FilePath
            switch request.destination {
            case _ where state.finished.path != nil: path = state.finished.path ?? ""
            case .file(let name): path = absolute(name)
            case .directory(let directory, _): path = absolute(directory).appending(state.placement.name)
            case .part, .stream: return
            }
            let known = state.machine.file.finished
            state.finished.existing = FinishedDownload(
                path: path.string, totalBytes: known?.totalBytes ?? 0, proof: state.machine.file.finishedProof,
                wasAlreadyComplete: true, finalURL: state.links.finalURL?.redacted ?? "", etag: known?.etag,
                lastModified: known?.lastModified, checksum: state.finished.checksum)
        }
        updates.notify()
    }
}

/// Recovery of interrupted moves and publications.
extension DownloadDriver {
    /// Resolves an interrupted move. Returns the new paths if the files are in the other directory.
    func settleMove(
        _ paths: DownloadPaths, _ record: inout JournalRecord, _ journal: Journal, _ disk: Disk
    ) throws(DownloadError) -> DownloadPaths? {
        let there: DownloadPaths?
        do throws(JournalError) {
            there = try PartialDownloadMover(fileSystem: disk.fileSystem).resolve(paths, &record, journal)
        } catch { throw DownloadError(error) }
        guard let there else { return nil }
        environment.knownJournals(in: paths.directory)?.remove(paths.journal)
        report(.event(.note(Reason(.wasMovedTo, "\(there.directory)"))))
        return there
    }

    /// Completes an interrupted publication, or returns `nil` if the file must be published or fetched again.
    func recover(
        _ publishing: JournalRecord.Publishing, paths: DownloadPaths, record: inout JournalRecord, _ disk: Disk
    ) throws(DownloadError) -> FinishedDownload? {
        let publisher = Publisher(
            fileSystem: disk.fileSystem, syncs: request.syncsToDisk)
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
            state.withLock { $0.finished.isDistrusted = true }
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
        _ finished: FinishedDownload, _ record: JournalRecord, _ journal: Journal, _ paths: DownloadPaths,
        _ disk: Disk
    ) async throws(DownloadError) -> FinishedDownload? {
        guard isAskedFor(record) else { return try await prove(finished, record, journal, paths, disk) }
        var answer: FinishedDownload? = finished
        do throws(DownloadError) {
            if request.checksum != nil || request.checksumList != nil {
                answer = try await lookForFinished(FilePath(finished.path), isOwn: true, disk)
            }
            if let answer { try await tellPublished(answer) }
        } catch {
            journal.close()
            throw error
        }
        removeRest(of: paths, journal, record, syncs: request.syncsToDisk, disk)
        return answer
    }

    /// Verifies the file of a journal that the request did not name by its URL. Such a journal proves no more than
    /// the file itself, so the digest is compared or a request is sent, as without a journal.
    private func prove(
        _ finished: FinishedDownload, _ record: JournalRecord, _ journal: Journal, _ paths: DownloadPaths,
        _ disk: Disk
    ) async throws(DownloadError) -> FinishedDownload? {
        let path = FilePath(finished.path)
        if request.sources.isEmpty {
            let known = record.urls.compactMap { try? DownloadURL($0) }
            guard !known.isEmpty else {
                journal.close()
                throw DownloadError(.invalidRequest, ErrorPhrase(.journalWithoutURL, "\(paths.journal)"))
            }
            state.withLock { state in
                state.links.urls = known
                state.digest = ExpectedDigest(request, record, isSameDownload: true)
            }
        }
        state.withLock { state in
            state.finished.path = path
            state.placement.name = path.lastComponent?.string ?? state.placement.name
        }
        removeRest(of: paths, journal, record, syncs: request.syncsToDisk, disk)
        return try await lookForFinished(path, isOwn: true, disk)
    }

    /// Removes the rest of a published download: first the backup, then the journal, through which a run after a
    /// crash finds both. If the backup cannot be removed, the journal stays for the next run.
    func removeRest(
        of paths: DownloadPaths, _ journal: Journal, _ record: JournalRecord, syncs: Bool, _ disk: Disk
    ) {
        do throws(FileError) {
            try BackupPair(paths, fileSystem: disk.fileSystem, syncs: false).remove(of: asideOwner(record))
        } catch { return journal.close() }
        try? journal.remove(syncs: syncs)
        environment.knownJournals(in: paths.directory)?.remove(paths.journal)
    }

    /// Returns whether an announced small file got its name, which is then durable. Blocks.
    ///
    /// `syncs`: as in the request. A file that was written without syncing is not trusted.
    package static func recoverAnnounced(
        _ file: PublishedFile, syncs: Bool, fileSystem: any FileSystem
    ) throws(DownloadError) -> Bool {
        guard syncs, file.isUnchanged(for: .content, fileSystem: fileSystem) else { return false }
        do throws(FileError) {
            try fileSystem.syncDirectoryIfSupported(FilePath(file.path).parent)
        } catch { throw DownloadError(error) }
        return true
    }
}

/// Ownership of part files, and the file that may be replaced.
extension DownloadDriver {
    /// Returns the paths of the part file that this download's earlier run left, if it still exists.
    func pathsOfLastRun(_ disk: Disk) -> DownloadPaths? {
        guard let path = context.partPath, let paths = DownloadPaths(of: absolute(path)) else { return nil }
        do throws(JournalError) {
            let record = try Journal.read(at: paths.journal, fileSystem: disk.fileSystem)
            if record.id == id.rawValue { return paths }
            report(.event(.note(Reason(.belongsToAnother, "\(paths.part)"))))
        } catch .missing {
            // A file that was kept in memory has no journal.
        } catch {
            report(.event(.note(.phrase(error.phrase))))
        }
        return nil
    }

    /// The file that the finished one replaces: that of an earlier run, or one that has no byte of the download.
    var replaced: PublishedFile? { context.replaces ?? state.withLock { $0.placement.emptyHalf } }

    /// Returns the paths with the whole final name, which the journal has if the part file's name is shortened.
    func withWholeName(_ paths: DownloadPaths, _ disk: Disk) -> DownloadPaths {
        guard paths.isShortened,
            let record = try? Journal.read(at: paths.journal, fileSystem: disk.fileSystem),
            let whole = DownloadPaths(directory: paths.directory, name: record.name), whole.part == paths.part
        else { return paths }
        return whole
    }

    /// The file that is replaced, if it is unchanged.
    func earlierFile(_ disk: Disk) -> FilePath? {
        guard let file = replaced, file.isUnchanged(fileSystem: disk.fileSystem) else { return nil }
        return FilePath(file.path)
    }

    /// Returns whether a journal's statements beyond its claims (a published file, a move in progress) may be
    /// trusted: the download was requested by one of its URLs or is listed under its id. Otherwise a prepared
    /// directory could make Ferry treat the user's other files as its own.
    func isAskedFor(_ record: JournalRecord) -> Bool {
        record.id == id.rawValue || request.sources.contains { record.names($0) }
    }

    /// Returns the downloads that may own the backup which this download replaces.
    func asideOwner(_ record: JournalRecord? = nil) -> BackupPair.Owner {
        state.withLock { state in
            let records = [record, state.placement.record].compactMap(\.self)
            return BackupPair.Owner(
                ids: Set([id.rawValue, state.placement.backupID].compactMap(\.self) + records.map(\.id)),
                urls: state.links.given.map(\.text) + records.flatMap(\.urls))
        }
    }

    /// Returns the error for a name that is taken and has no alternative, with the ownership flaw of a foreign file.
    func blocked(by path: FilePath, _ disk: Disk) -> DownloadError {
        if let flaw = try? disk.fileSystem.flaw(at: path), flaw != .notRegular {
            return DownloadError(FileError(.create, path, kind: .notOurs(flaw)))
        }
        return DownloadError(.conflict, ErrorPhrase(.inTheWay, "\(path)"), recovery: .needsUser)
    }

    /// Returns whether the id belongs to another download of the list.
    func isAnothers(_ id: String) -> Bool { id != self.id.rawValue && context.belongsToAnother?(id) == true }

    /// Returns whether the download in progress at `paths` is not the requested one, so that the next free name is
    /// taken.
    func isOfAnotherRequest(_ paths: DownloadPaths, _ disk: Disk) -> Bool {
        guard let other = try? Journal.read(at: paths.journal, fileSystem: disk.fileSystem) else { return false }
        if isAnothers(other.id) { return true }
        guard request.onConflict == .rename, let source = request.sources.first else { return false }
        return !other.names(source)
    }
}
