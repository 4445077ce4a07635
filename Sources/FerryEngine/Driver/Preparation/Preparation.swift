import FerryCore
import SystemPackage

/// Finds the files of a download on the disk before its first request, and completes the interrupted steps of earlier runs.
///
/// ```
/// JournalSearch ─► named, begun ─► open the journal ─► finish an interrupted move or publication ─► PartClaims: resume
///               ─► half ─► ForeignHalf: compare          │ the part file is missing, or its bytes do not count
///               ─► nothing ─► a finished file?           ▼
///                               └──────────────────────► fresh
/// ```
/// It ends where the server must be asked. It does not use the machine, the storage or a lock; all its findings are in
/// ``Prepared``. Notes are reported as soon as they are found, because the digest of an earlier file may take minutes.
struct Preparation {
    private let own: OwnFiles
    private let environment: EngineEnvironment
    private let files: FileIO
    private let listing: ChecksumListing
    private let report: (DownloadDriver.Report) -> Void
    private let tags: () -> JournalTags?
    private let isStopped: () -> Bool
    private var found: Prepared
    /// The open part file, until it is discarded.
    private var session: PartSession?

    private var request: DownloadRequest { own.request }

    /// - Parameters:
    ///   - name: The expected name of the file.
    ///   - tags: The current list attributes of the download.
    ///   - isStopped: Whether to stop reading a file early; the result is then ignored.
    init(
        _ own: OwnFiles, name: String, _ environment: EngineEnvironment, _ files: FileIO, _ settings: DriverSettings,
        report: @escaping (DownloadDriver.Report) -> Void, tags: @escaping () -> JournalTags?,
        isStopped: @escaping () -> Bool
    ) {
        self.own = own
        self.environment = environment
        self.files = files
        listing = ChecksumListing(own.request, environment, settings)
        (self.report, self.tags, self.isStopped) = (report, tags, isStopped)
        found = Prepared(sources: own.request.sources, name: name, digest: ExpectedDigest(own.request))
    }

    /// Must be called only once.
    mutating func run(_ disk: Disk) async -> Prepared {
        do throws(DownloadError) {
            let start = try await begin(disk)
            found.start = start
        } catch {
            found.start = .failed(error, session)
        }
        return found
    }

    private mutating func begin(_ disk: Disk) async throws(DownloadError) -> Prepared.Start {
        let search = JournalSearch(own, environment, name: found.name) { [report] in report(.event(.note($0))) }
        switch try search.run(disk) {
        case .named(let paths): return try await goOn(with: paths, isNamed: true, disk)
        case .begun(let paths): return try await goOn(with: paths, isNamed: false, disk)
        case .half(let path): return try begin(withHalf: path, disk)
        case .nothing(let final): return try await begin(unlessFinished: final, disk)
        case .stream: return .fresh
        }
    }

    private func note(_ reason: Reason) { report(.event(.note(reason))) }

    private mutating func begin(withHalf path: FilePath, _ disk: Disk) throws(DownloadError) -> Prepared.Start {
        guard !request.sources.isEmpty else {
            throw DownloadError(
                .notResumable, ErrorPhrase(.foreignHalf, "\(path)", ShellWord.quote(path.string)), recovery: .needsUser)
        }
        let half: ForeignHalf
        do throws(FileError) { half = try ForeignHalf(at: path, disk) } catch { throw DownloadError(error) }
        switch half {
        case .compare(let file, let ranges, let name):
            found.name = name
            return .compare(file, ranges)
        case .empty(let file, let name):
            (found.emptyHalf, found.name) = (file, name)
            note(Reason(.nothingNoted, "\(path)"))
        case .doubtful(let control): note(Reason(.doubtfulControl, "\(control)", "\(path)"))
        }
        return .fresh
    }

    // MARK: Finished files

    private mutating func begin(
        unlessFinished path: FilePath, _ disk: Disk
    ) async throws(DownloadError) -> Prepared.Start {
        if let file = try await finished(path, disk) { return .finished(file) }
        return .fresh
    }

    /// Returns the finished file at `path` or at a numbered name of it, if this can be decided without the server.
    private mutating func finished(
        _ path: FilePath, isOwn: Bool = false, _ disk: Disk
    ) async throws(DownloadError) -> FinishedDownload? {
        var search = FinishedSearch(
            own, files, listing, sources: found.sources, digest: found.digest, report: report, isStopped: isStopped)
        let file = try await search.run(path, isOwn: isOwn, disk)
        (found.digest, found.earlier) = (search.digest, search.earlier ?? found.earlier)
        return file
    }

    /// Returns the file that occupies the final name of a partial download if the rule is `skip`; throws if the rule is `fail`.
    /// The partial download is kept, and no more bytes are fetched.
    private mutating func existing(
        insteadOf paths: DownloadPaths, _ journal: Journal, _ disk: Disk
    ) async throws(DownloadError) -> FinishedDownload? {
        guard request.onConflict == .skip || request.onConflict == .fail,
            own.earlierFile(orEmpty: found.emptyHalf, disk) != paths.final,
            (try? disk.fileSystem.exists(paths.final)) == true
        else { return nil }
        journal.close()
        if request.onConflict == .skip, let skipped = try await finished(paths.final, disk) { return skipped }
        throw DownloadError(.conflict, ErrorPhrase(.thereAlready, "\(paths.final)"), recovery: .needsUser)
    }

    // MARK: Existing journals

    private mutating func goOn(
        with given: DownloadPaths, isNamed: Bool, _ disk: Disk
    ) async throws(DownloadError) -> Prepared.Start {
        let paths = given.withWholeName(disk.fileSystem)
        try putBack(paths, disk)
        let journal: Journal
        var record: JournalRecord
        do throws(JournalError) {
            (journal, record) = try Journal.open(
                at: paths.journal, fileSystem: disk.fileSystem, syncs: request.syncsToDisk)
        } catch { return try await begin(without: paths, error, isNamed: isNamed, disk) }
        if own.isAnothers(record.id) {
            journal.close()
            guard !isNamed else {
                throw DownloadError(.conflict, ErrorPhrase(.belongsToAnother, "\(paths.part)"), recovery: .needsUser)
            }
            return .fresh
        }
        if own.isAskedFor(record) {
            if record.moving != nil, let there = try settleMove(paths, &record, journal, disk) {
                journal.close()
                return try await goOn(with: there, isNamed: isNamed, disk)
            }
            if let earlier = record.movedFrom {
                PartialDownloadMover(fileSystem: disk.fileSystem).forget(earlier, of: record.id)
            }
        }
        let moving = record.moving
        (record.moving, record.movedFrom) = (nil, nil)
        if let publishing = record.publishing,
            let finished = try recover(publishing, paths: paths, record: &record, disk)
        {
            guard let file = try await settle(finished, record, journal, paths, disk) else { return .fresh }
            return .finished(file)
        }
        if let there = try await existing(insteadOf: paths, journal, disk) { return .finished(there) }
        let part: PartFile
        do throws(PartFileError) {
            part = try PartFile.open(paths.part, fileSystem: disk.fileSystem)
        } catch {
            if case .missing = error {
                if let moving {
                    journal.close()
                    throw DownloadError(FileError(.rename, paths.part, kind: .lostOnTheWay(to: FilePath(moving.part))))
                }
                note(Reason(.journalAlone, "\(paths.part)"))
                // The final name of the part file has survived, but not the record that announced it: nothing was synced.
                if let final = try? disk.fileSystem.statusIfPresent(paths.final),
                    (final.device, final.inode) == (record.partDevice, record.partInode)
                {
                    found.isDistrusted = true
                }
                try? journal.remove()
                journal.close()
                try keepName(paths, record, disk)
                environment.knownJournals(in: paths.directory)?.remove(paths.journal)
                if request.sources.isEmpty { throw DownloadError(error) }
                return .fresh
            }
            journal.close()
            // If a foreign file has the name, another name is chosen, and the reason is reported then.
            if error.flaw != nil, !isPartRequest { return .fresh }
            throw DownloadError(error)
        }
        let session = PartSession(paths, part, journal, record, own: own, environment)
        self.session = session
        if record.isPaused == true || record.isTaken == true {
            // Without this write, a list rebuilt from journals before the next checkpoint would pause the download
            // again or leave it out.
            (record.isPaused, record.isTaken) = (nil, nil)
            do throws(JournalError) { try journal.write(record) } catch { throw DownloadError(error) }
        }
        return try await adopt(record, of: session, isNamed: isNamed, disk)
    }

    /// Starts without the journal because it cannot be opened; throws if the request names its part file.
    private mutating func begin(
        without paths: DownloadPaths, _ error: JournalError, isNamed: Bool, _ disk: Disk
    ) async throws(DownloadError) -> Prepared.Start {
        switch error {
        case .missing where !isNamed:
            // The journal existed when the directory was read, but another process has finished it since.
            environment.knownJournals(in: paths.directory)?.remove(paths.journal)
            return try await begin(unlessFinished: paths.final, disk)
        case .locked where !isNamed && own.isOfAnotherRequest(paths, disk): return .fresh
        case .locked: throw DownloadError(error)
        default:
            if isNamed || error.mayPass { throw DownloadError(error) }
            // An ownership flaw is reported later, together with the name that is used instead.
            if error.flaw == nil { note(Reason(.otherNameBegun, error.phrase)) }
            return .fresh
        }
    }

    private var isPartRequest: Bool { if case .part = request.destination { true } else { false } }

    /// Decides how the transfer resumes the part file, which is locked, like its journal.
    private mutating func adopt(
        _ given: JournalRecord, of session: PartSession, isNamed: Bool, _ disk: Disk
    ) async throws(DownloadError) -> Prepared.Start {
        let (paths, part) = (session.paths, session.part(disk))
        let original = isNamed ? nil : own.original(of: paths, given, wanted: found.name, disk)
        found.digest = ExpectedDigest(request, given, isSameDownload: given.id == own.id.rawValue)
        if let checksum = found.digest.dropped { note(Reason(.checksumDropped, "\(checksum)")) }
        if let checksum = found.digest.requested, request.checksum == nil {
            note(Reason(.checksumKept, "\(checksum)"))
        }
        var record = given
        record.id = own.id.rawValue
        record.take(tags())
        environment.knownJournals(in: paths.directory)?.add(paths.journal, record)
        let facts: PartClaims.Facts
        do throws(FileError) { facts = try PartClaims.Facts(part) } catch { throw DownloadError(error) }
        let claims = PartClaims(
            record, of: facts, bootID: disk.fileSystem.bootID, hasDigest: found.digest.requested != nil)
        for reason in claims.notes { note(reason) }
        record = claims.record
        guard let (sources, isNew) = record.sources(with: request.sources) else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.journalWithoutURL, "\(paths.journal)"))
        }
        found.sources = sources
        (found.name, found.record) = (record.name, record)
        report(.named(name: request.shownName(record.name), path: paths.final.string))
        let listed = try await listing.find([record.name] + own.names(from: sources), unless: found.digest)
        if let listed { found.digest.listed(listed) }
        let verdict = claims.verdict(found.digest, request)
        if let original, let start = try await begin(with: original, insteadOf: session, record, verdict, disk) {
            return start
        }
        switch verdict {
        case .usable:
            if let mismatch = record.mismatch, request.ignoresEarlierChecksum {
                note(Reason(.mismatchAccepted, mismatch.actual, mismatch.expected))
            }
        case .empty:
            found.digest.gaveUpHeldContent()
            try session.discard(disk)
            self.session = nil
            try keepName(paths, record, disk)
            return .fresh
        case .setAside(let reason):
            try setAside(session, record, reason, disk)
            found.digest.gaveUpHeldContent()
            return .fresh
        }
        found.record = claims.retracted ?? record
        try session.take(claims.retracted ?? record, isRetracted: claims.retracted != nil)
        let identity =
            isNew
            ? FileIdentity(totalBytes: record.totalBytes, contentType: record.identity.contentType) : record.identity
        return .resume(
            session,
            Prepared.Held(
                content: PartialContent(identity: identity, ranges: claims.ranges), totalBytes: record.totalBytes,
                weakestJoin: record.weakestJoin, isNewSource: isNew, isDoubtful: claims.isDoubtful))
    }

    /// Starts with the finished file that has the wanted name. If the file has the requested digest, it is the result; otherwise
    /// the server is asked about it, and the part file moves to the backup. Returns `nil` to continue with the part file.
    private mutating func begin(
        with original: FilePath, insteadOf session: PartSession, _ record: JournalRecord, _ verdict: PartClaims.Verdict,
        _ disk: Disk
    ) async throws(DownloadError) -> Prepared.Start? {
        // The run that began the part file has compared the file with this digest.
        if let checksum = found.digest.requested, checksum.description == record.checksum { return nil }
        if let file = try await finished(original, disk) {
            session.close(disk)
            self.session = nil
            return .finished(file)
        }
        if found.digest.requested != nil || isStopped() { return nil }
        guard verdict.yields(to: found.earlier, record) else {
            if verdict == .usable { found.earlier = nil }
            return nil
        }
        found.earlier = found.earlier ?? Prepared.EarlierFile(path: original)
        try session.take(record, isRetracted: false)
        try backUp(session, "a finished file is there", disk)
        found.digest.gaveUpHeldContent()
        return .fresh
    }

    /// Moves unusable partial content to the backup, where it stays until the new file is published.
    private mutating func setAside(
        _ session: PartSession, _ record: JournalRecord, _ reason: Reason, _ disk: Disk
    ) throws(DownloadError) {
        report(.event(.restarted(reason: reason)))
        try session.take(record, isRetracted: false)
        session.append(.restarted(reason: "\(reason)"), at: environment.clock.date())
        try backUp(session, reason, disk)
    }

    private mutating func backUp(_ session: PartSession, _ reason: Reason, _ disk: Disk) throws(DownloadError) {
        found.backup = try session.setAside(reason, for: owner(session.record), disk) ?? .absent
        found.record = session.record
        self.session = nil
    }

    // MARK: Interrupted moves and publications

    /// Resolves an interrupted move. Returns the new paths if the files are in the other directory.
    private func settleMove(
        _ paths: DownloadPaths, _ record: inout JournalRecord, _ journal: Journal, _ disk: Disk
    ) throws(DownloadError) -> DownloadPaths? {
        let there: DownloadPaths?
        do throws(JournalError) {
            there = try PartialDownloadMover(fileSystem: disk.fileSystem).resolve(paths, &record, journal)
        } catch { throw DownloadError(error) }
        guard let there else { return nil }
        environment.knownJournals(in: paths.directory)?.remove(paths.journal)
        note(Reason(.wasMovedTo, "\(there.directory)"))
        return there
    }

    /// Completes an interrupted publication, or returns `nil` if the file must be published or fetched again.
    private mutating func recover(
        _ publishing: JournalRecord.Publishing, paths: DownloadPaths, record: inout JournalRecord, _ disk: Disk
    ) throws(DownloadError) -> FinishedDownload? {
        let publisher = Publisher(fileSystem: disk.fileSystem, syncs: request.syncsToDisk)
        let recovery: Publisher.Recovery
        do throws(FileError) {
            recovery = try publisher.recover(publishing, part: paths.part, unsyncedBoot: record.unsyncedBoot)
        } catch { throw DownloadError(error) }
        switch recovery {
        case .finished(let path):
            note(Reason(.publishingCut))
            // A digest in the journal was verified before the name was announced.
            let wasCompared = record.checksum ?? record.offered != nil
            return FinishedDownload(
                path: path.string, totalBytes: publishing.length,
                proof: wasCompared ? .digest : record.weakestJoin ?? .single, wasAlreadyComplete: true,
                contentType: record.identity.contentType, etag: record.identity.etag,
                lastModified: record.identity.lastModified)
        case .unproven(_, let reason):
            note(reason)
            // Ferry itself has set the file's length and validators, so they do not prove its bytes.
            found.isDistrusted = true
        case .again: break
        case .lost(let reason): note(Reason(.publishingLost, reason))
        }
        record.publishing = nil
        return nil
    }

    /// Compares a file that an earlier run published with the digest requested now, reports it and removes its journal. Returns
    /// `nil` if the file must be fetched again, or the server must be asked about it.
    private mutating func settle(
        _ finished: FinishedDownload, _ record: JournalRecord, _ journal: Journal, _ paths: DownloadPaths,
        _ disk: Disk
    ) async throws(DownloadError) -> FinishedDownload? {
        let path = FilePath(finished.path)
        guard own.isAskedFor(record) else {
            // Such a journal proves no more than the file itself, so the file is treated as one without a journal: its digest is
            // compared, or a request is sent.
            try take(path, record, journal)
            removeRest(of: paths, record, journal, disk)
            return try await self.finished(path, isOwn: true, disk)
        }
        var answer: FinishedDownload? = finished
        do throws(DownloadError) {
            if request.checksum != nil || request.checksumList != nil {
                answer = try await self.finished(path, isOwn: true, disk)
            }
            if let answer { try await own.context.tellPublished(answer, files) }
        } catch {
            journal.close()
            throw error
        }
        removeRest(of: paths, record, journal, disk)
        return answer
    }

    /// Continues with the published file of a journal whose URL the request does not contain.
    private mutating func take(
        _ path: FilePath, _ record: JournalRecord, _ journal: Journal
    ) throws(DownloadError) {
        if request.sources.isEmpty {
            guard let (sources, _) = record.sources(with: []) else {
                journal.close()
                throw DownloadError(.invalidRequest, ErrorPhrase(.journalWithoutURL, "\(journal.path)"))
            }
            found.sources = sources
            found.digest = ExpectedDigest(request, record, isSameDownload: true)
        }
        found.earlier = Prepared.EarlierFile(path: path)
        found.name = path.lastComponent?.string ?? found.name
    }

    private func removeRest(of paths: DownloadPaths, _ record: JournalRecord, _ journal: Journal, _ disk: Disk) {
        let backup = BackupPair(paths, fileSystem: disk.fileSystem, syncs: request.syncsToDisk)
        if backup.removeRest(journal, of: owner(record), syncs: request.syncsToDisk) {
            environment.knownJournals(in: paths.directory)?.remove(paths.journal)
        }
    }

    // MARK: Backups

    private func owner(_ record: JournalRecord?) -> BackupPair.Owner {
        own.owner(of: found.backup, found.sources, [record, found.record])
    }

    /// Restores the backup after a crash that left it without a new part file.
    private func putBack(_ paths: DownloadPaths, _ disk: Disk) throws(DownloadError) {
        let aside = BackupPair(paths, fileSystem: disk.fileSystem, syncs: request.syncsToDisk)
        let isRestored: Bool
        do throws(FileError) { isRestored = try aside.restore() } catch { throw DownloadError(error) }
        if isRestored { note(Reason(.putBack)) }
    }

    /// Keeps the name if its backup belongs to this download: the backup would block the name for a new part file.
    private mutating func keepName(
        _ paths: DownloadPaths, _ record: JournalRecord, _ disk: Disk
    ) throws(DownloadError) {
        let aside = BackupPair(paths, fileSystem: disk.fileSystem, syncs: request.syncsToDisk)
        let old: JournalRecord?
        do throws(FileError) { old = try aside.record(of: owner(record)) } catch { throw DownloadError(error) }
        if let old { found.backup = .own(paths, id: old.id) }
    }
}
