import FerryCore
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// Storage for the bytes: memory, or a part file with its journal.
extension DownloadDriver {
    /// Files of a known length below this start in memory.
    static let smallFileBytes: ByteCount = 1 << 20
    /// The most memory that is reserved for a small file in advance.
    private static let smallFileReserve = 16 << 10
    /// A small file that takes longer than this moves to disk.
    static let smallFilePatience: Duration = .seconds(2)

    /// Returns whether the file starts in memory and is published whole.
    func isSmall(_ representation: Representation) -> Bool {
        if case .stream = request.destination { return false }
        guard let total = representation.identity.totalBytes, total < Self.smallFileBytes else { return false }
        if representation.endsByClose { return false }
        return request.uploadTo != nil || replaced == nil
    }

    /// Moves the current partial content to the backup if there is a `reason`, and creates storage for the new file.
    ///
    /// Returns `false` when no body needs to be read, because the existing file matches the server's.
    func replace(
        _ reason: Reason?, _ representation: Representation, url: DownloadURL, _ disk: Disk
    ) async throws(DownloadError) -> Bool {
        await lock.acquire()
        defer { lock.release() }
        if let reason {
            try setAside(reason, disk)
        } else {
            // An earlier response created storage and broke before its first byte.
            try forgetPair(disk)
        }
        let isMade = try await makePlace(for: representation, url: url, disk)
        state.withLock { $0.placement.isReplacing = false }
        return isMade
    }

    private func makePlace(
        for representation: Representation, url: DownloadURL, _ disk: Disk
    ) async throws(DownloadError) -> Bool {
        let total = representation.identity.totalBytes
        state.withLock { $0.finished.contentType = representation.identity.contentType }
        if case .stream(let stream) = storage.current {
            try await lookUpChecksum(for: names(of: representation, url: url))
            stream.follow(state.withLock { $0.digestToCheck }?.algorithm)
            begun(state.withLock { $0.placement.name }, total)
            return true
        }
        let (directory, name) = try destination(for: representation, url: url, disk)
        let path = directory.appending(name)
        if let object = wantedObject(named: name) {
            state.withLock { $0.placement.object = object }
            if try await isDecided(by: object) { return false }
        }
        takeBackAside(name, in: directory, disk)
        let (existing, facts) = existingFiles()
        let known = [facts.earlier?.path ?? path] + own.copies(of: path, from: sources[0], disk)
        let finalURL = state.withLock { $0.links.finalURL?.redacted ?? "" }
        for path in known {
            guard let found = existing.finished(at: path, as: representation, finalURL: finalURL, disk) else {
                continue
            }
            state.withLock { $0.finished.existing = found }
            updates.notify()
            return false
        }
        if !facts.wasCompared, let candidate = existing.candidate(among: known, representation.identity, disk) {
            report(.event(.note(Reason(.comparingExisting, "\(candidate.path)"))))
            state.withLock { state in
                state.finished.candidate = candidate
                state.machine.examine()
            }
            return false
        }
        if try isDecided(by: path, disk) { return false }
        state.withLock { $0.placement.choose(name, at: path) }
        try await lookUpChecksum(for: names(of: representation, url: url))
        try checkSpace(in: directory, for: total, disk)
        report(.named(name: name, path: path.string))
        begun(name, total)
        if representation.isEncoded { report(.event(.note(Reason(.storedEncoded)))) }
        if let total, isSmall(representation), try !isReplaced(path, disk) {
            // Most small files fit the reserve at once; a slow file moves to a part file before it has grown much.
            let reserve = min(Int(total), Self.smallFileReserve)
            storage.set(.small(Storage.Small(name: name, directory: directory, reserve: reserve)))
            return true
        }
        for hint in existing.hints(of: name, in: directory, representation.identity, disk) {
            report(.event(.note(hint)))
        }
        warnOfRestarts(representation)
        guard let pair = try makePair(name: name, in: directory, total: total, disk) else { return false }
        storage.set(.pair(pair))
        return true
    }

    /// Reports that a break will cost all bytes, before there are any.
    private func warnOfRestarts(_ representation: Representation) {
        let rules = state.withLock { $0.machine.rules }
        guard !representation.identity.hasValidator, !representation.refusesRanges, !rules.hasDigest,
            !rules.trust.resumesUnproven
        else { return }
        report(.event(.note(Reason(.wouldRestart))))
    }

    /// Reports the start, once for each file.
    private func begun(_ name: String, _ total: ByteCount?) {
        let isNews = state.withLock { state in
            defer { state.placement.started = (name, total) }
            return state.placement.started.map { $0 != (name, total) } ?? true
        }
        if isNews { report(.event(LocalizedEvent(.started(name: name, totalBytes: total)))) }
    }

    /// Returns the names under which a checksum list may contain the file.
    private func names(of representation: Representation, url: DownloadURL) -> [String] {
        [SafeName.make(representation.suggestedName, url: sources[0], finalURL: url)] + own.names(from: sources)
    }

    /// Applies the rules `fail` and `skip` to an existing file, before any byte of the body is read.
    private func isDecided(by path: FilePath, _ disk: Disk) throws(DownloadError) -> Bool {
        guard request.uploadTo == nil, request.onConflict == .fail || request.onConflict == .skip,
            earlierFile(disk) != path
        else { return false }
        let status: FileStatus?
        do throws(FileError) { status = try disk.fileSystem.statusIfPresent(path) } catch {
            throw DownloadError(error)
        }
        guard let status else { return false }
        try skip(path, length: status.length)
        return true
    }

    /// Whether there is a file that the new one replaces, which takes a part file; or a part file, which may be in the way.
    private func isReplaced(_ path: FilePath, _ disk: Disk) throws(DownloadError) -> Bool {
        guard request.uploadTo == nil, request.onConflict == .overwrite else { return false }
        do throws(FileError) {
            if try disk.fileSystem.exists(path) { return true }
            return try disk.fileSystem.exists(DownloadPaths(final: path)?.part ?? path)
        } catch { throw DownloadError(error) }
    }

    /// Finishes with the existing file if the rule is `skip`, and no checksum is requested that it was not found to
    /// have.
    func skip(_ path: FilePath, length: ByteCount) throws(DownloadError) {
        guard request.onConflict == .skip, state.withLock({ $0.digest.requested == nil }) else {
            throw DownloadError(.conflict, ErrorPhrase(.thereAlready, "\(path)"), recovery: .needsUser)
        }
        report(.event(.note(Reason(.skipped, "\(path)"))))
        state.withLock {
            $0.finished.existing = FinishedDownload(
                path: path.string, totalBytes: length, proof: .none, wasAlreadyComplete: true,
                finalURL: $0.links.finalURL?.redacted ?? "")
        }
        updates.notify()
    }

    private func destination(
        for representation: Representation, url: DownloadURL, _ disk: Disk
    ) throws(DownloadError) -> (FilePath, String) {
        // A restart keeps the name of the interrupted download.
        if let own = state.withLock({ $0.placement.backup.ownPaths }) { return (own.directory, own.name) }
        // A repeated download replaces the file that its earlier run published.
        if let earlier = earlierFile(disk), let name = earlier.lastComponent {
            return (earlier.removingLastComponent(), name.string)
        }
        switch request.destination {
        case .stream: throw DownloadError(.internal, "a stream has no name")
        case .file(let path):
            let target = FilePath(ofRequest: path)
            return (target.removingLastComponent(), target.lastComponent?.string ?? "download")
        case .directory(let path, _):
            return (
                FilePath(ofRequest: path), SafeName.make(representation.suggestedName, url: sources[0], finalURL: url)
            )
        case .part(let path):
            guard let paths = DownloadPaths(of: FilePath(ofRequest: path)) else {
                throw DownloadError(.invalidRequest, ErrorPhrase(.notAPartFile, "\(path)"))
            }
            return (paths.directory, paths.withWholeName(disk.fileSystem).name)
        }
    }

    func checkSpace(in directory: FilePath, for total: ByteCount?, _ disk: Disk) throws(DownloadError) {
        try DirectorySpace(directory, reserve: settings.minFreeBytes, fileSystem: disk.fileSystem).require(total ?? 0)
    }

    /// Adopts a backup under this name that belongs to a run interrupted before it had created its new part file.
    private func takeBackAside(_ name: String, in directory: FilePath, _ disk: Disk) {
        guard state.withLock({ $0.placement.backup.ownPaths }) == nil,
            let paths = DownloadPaths(directory: directory, name: name),
            let record = try? Journal.read(at: paths.oldJournal, fileSystem: disk.fileSystem),
            record.names(sources[0]), !own.isAnothers(record.id)
        else { return }
        state.withLock { $0.placement.backup = .found(paths, id: record.id) }
    }

    /// Throws if the journal of this name cannot be read just now: it may be this download's own, and another name
    /// would discard its progress.
    private func checkUnread(_ name: String, in directory: FilePath, _ disk: Disk) throws(DownloadError) {
        guard let paths = DownloadPaths(directory: directory, name: name) else { return }
        do throws(JournalError) {
            _ = try Journal.read(at: paths.journal, fileSystem: disk.fileSystem)
        } catch {
            if error.mayPass { throw DownloadError(error) }
        }
    }

    /// Creates the part file, writes the first journal and preallocates the space.
    private func makePair(
        name: String, in directory: FilePath, total: ByteCount?, _ disk: Disk
    ) throws(DownloadError) -> Storage.Pair? {
        if state.withLock({ $0.placement.backup.ownPaths }) == nil { try checkUnread(name, in: directory, disk) }
        let taken: NameTaker.Result
        do throws(PartFileError) {
            if let paths = state.withLock({ $0.placement.backup.ownPaths }) {
                // The name already belongs to this download, and its earlier files are in the backup.
                taken = .taken(try PartFile.create(at: paths.part, fileSystem: disk.fileSystem), paths, nil)
            } else {
                taken = try NameTaker(
                    fileSystem: disk.fileSystem, ownAside: state.withLock { $0.placement.backup.foundPaths }
                )
                .take(
                    // The rule of an upload is for its object.
                    name, in: directory, rule: request.uploadTo == nil ? request.onConflict : .rename,
                    mayReplace: earlierFile(disk) == directory.appending(name))
            }
        } catch { throw DownloadError(error) }
        switch taken {
        case .taken(let part, let paths, let inTheWay):
            let journal: Journal
            do throws(JournalError) {
                let record = makeRecord(name: paths.name, part: part)
                journal = try Journal.create(
                    at: paths.journal, record: record, fileSystem: disk.fileSystem,
                    syncs: request.syncsToDisk)
                state.withLock { state in
                    state.placement.record = record
                    state.placement.name = paths.name
                }
                environment.knownJournals(in: directory)?.add(paths.journal, record)
            } catch {
                // The journal may exist but not be durable. Without its part file it would block this file name, so
                // delete it.
                if (try? Journal.read(at: paths.journal, fileSystem: disk.fileSystem))?.id == id.rawValue {
                    // allow(ours): its id shows that this run created it.
                    try? disk.fileSystem.removeIfPresent(paths.journal)
                }
                try? part.remove()
                throw DownloadError(error)
            }
            if let total {
                do {
                    _ = try part.preallocate(total: total)
                } catch {
                    try? part.remove()
                    try? journal.remove()
                    throw DownloadError(error)
                }
            }
            if paths.name != name { report(.named(name: paths.name, path: paths.final.string)) }
            if let inTheWay {
                report(.event(.note(inTheWay.reason(forName: paths.name))))
            } else if paths.name != name {
                report(.event(.note(Reason(.nameTaken, paths.name))))
            }
            return Storage.Pair(paths: paths, part: part, journal: journal)
        case .exists(let path):
            try skip(path, length: (try? disk.fileSystem.statusIfPresent(path))?.length ?? 0)
            return nil
        case .blocked(let path): throw blocked(by: path, disk)
        case .noFreeName(let path):
            throw DownloadError(.conflict, ErrorPhrase(.noFreeName, "\(path)"), recovery: .needsUser)
        }
    }

    func makeRecord(name: String, part: PartFile) -> JournalRecord {
        state.withLock { state in
            var record = JournalRecord(
                id: id.rawValue, urls: state.links.given.map(\.text), name: name,
                totalBytes: state.machine.planner.total, identity: state.machine.file.identity,
                checksum: state.digest.requested?.description, partDevice: part.device, partInode: part.inode,
                createdAt: environment.clock.date().timeIntervalSince1970)
            record.partCreated = part.created?.pair
            if case .file = request.destination { record.isNameRequested = true }
            record.trust = request.trust
            record.root = request.root
            record.upload = state.placement.object.map { JournalRecord.Upload(object: $0.text, id: nil) }
            record.take(state.placement.tags)
            record.events = state.placement.record?.events ?? []
            return record
        }
    }

    // MARK: Small files

    /// Moves a small file to disk if it takes too long, so that a kill cannot lose its bytes.
    func spillIfSlow(at now: Duration) async {
        guard let start = state.withLock({ $0.startedAt }), now - start >= Self.smallFilePatience else { return }
        await spillNow()
    }

    /// Moves a small file to disk, unless the storage is being replaced at this moment.
    func spillNow() async {
        // The lock's holder may be waiting for a server, and callers of this function must not wait.
        guard case .small = storage.current, lock.tryAcquire() else { return }
        defer { lock.release() }
        do throws(DownloadError) {
            try await files.run { [self] disk throws(DownloadError) in try spillInTurn(disk) }
        } catch { fail(error) }
    }

    /// Moves a small file from memory to a part file with a journal.
    func spill() async throws(DownloadError) {
        await lock.acquire()
        defer { lock.release() }
        try await files.run { [self] disk throws(DownloadError) in try spillInTurn(disk) }
    }

    private func spillInTurn(_ disk: Disk) throws(DownloadError) {
        guard case .small(let small) = storage.current, !state.withLock({ $0.placement.isReplacing }) else { return }
        guard let pair = try makePair(name: small.name, in: small.directory, total: nil, disk) else { return }
        do throws(FileError) { try storage.spill(to: pair, disk) } catch {
            try? pair.part(disk).remove()
            try? pair.journal(disk).remove()
            throw DownloadError(error)
        }
    }

    // MARK: Letting go

    /// Moves unusable partial content to the backup, where it stays until the new file is published. Requires the
    /// lock.
    func setAside(_ reason: Reason, _ disk: Disk) throws(DownloadError) {
        report(.event(.restarted(reason: reason)))
        state.withLock { $0.placement.record?.append(.restarted(reason: "\(reason)"), at: environment.clock.date()) }
        switch storage.current {
        case .none: return
        case .small: storage.set(.none)
        case .stream:
            // The machine ends such a download instead.
            throw DownloadError(.notResumable, ErrorPhrase(.streamBroke, reason))
        case .pair(let pair):
            let index = environment.knownJournals(in: pair.paths.directory)
            let backup = try pair.setAside(for: asideOwner(), syncs: request.syncsToDisk, from: index, disk)
            storage.close(disk)
            state.withLock { $0.placement.backup = backup }
        }
    }

    /// Removes a pair that claims nothing, which frees its name.
    func forgetPair(_ disk: Disk) throws(DownloadError) {
        guard let pair = storage.pair else { return }
        try pair.remove(from: environment.knownJournals(in: pair.paths.directory), disk)
        storage.close(disk)
    }

    /// Performs a restart that the machine ordered before any response. Returns whether it succeeded.
    func restart(_ reason: Reason) async -> Bool {
        await lock.acquire()
        defer { lock.release() }
        do throws(DownloadError) {
            try await files.run { [self] disk throws(DownloadError) in try setAside(reason, disk) }
            state.withLock { state in
                state.machine.restarted()
                state.digest.gaveUpHeldContent()
            }
            return true
        } catch {
            fail(error)
            return false
        }
    }

    /// Removes all files of a cancelled download.
    func discard(_ disk: Disk) {
        removeAside(disk)
        try? forgetPair(disk)
        storage.close(disk)
    }

    /// Removes the backup that this download's file replaces.
    func removeAside(_ disk: Disk) {
        guard let own = state.withLock({ $0.placement.backup.paths }) else { return }
        try? BackupPair(own, fileSystem: disk.fileSystem, syncs: false).remove(of: asideOwner())
    }
}
