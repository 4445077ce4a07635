import FerryCore
import SystemPackage

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// Storage for the bytes: memory, or a part file with its journal.
extension DownloadDriver {
    /// Files with a known length below this limit start in memory.
    static let smallFileBytes: ByteCount = 1 << 20
    /// The maximum memory that is reserved for a small file in advance.
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
        // Without a reason, an earlier response was interrupted before its first byte.
        if let reason { try setAside(reason, disk) } else { try forget(disk) }
        switch try await choosePlace(for: representation, url: url, disk) {
        case .write(let place):
            transfer.set(place)
            return true
        case .compare(let existing):
            report(.event(.note(Reason(.comparingExisting, "\(existing.path)"))))
            transfer.examine(existing)
        case .finished(let file):
            transfer.set(nil)
            target.exists(file)
            updates.notify()
        }
        return false
    }

    private enum Choice {
        case write(Place)
        /// An existing file may be the representation.
        case compare(ExistingFile)
        /// An existing file or object is the result.
        case finished(FinishedDownload)
    }

    private func choosePlace(
        for representation: Representation, url: DownloadURL, _ disk: Disk
    ) async throws(DownloadError) -> Choice {
        let total = representation.identity.totalBytes
        target.answered(contentType: representation.identity.contentType)
        if case .stream(let descriptor) = request.destination {
            // A stream can start over only if none of its bytes has been written.
            let stream = StreamSink(descriptor)
            try await lookUpChecksum(for: names(of: representation, url: url))
            stream.follow(transfer.digestToCheck?.algorithm)
            begun(target.name, total)
            return .write(.stream(stream))
        }
        let (directory, name) = try destination(for: representation, url: url, disk)
        let path = directory.appending(name)
        if let object = wantedObject(named: name) {
            target.chose(object)
            if let there = try await existing(object) { return .finished(there) }
        }
        takeBackAside(name, in: directory, disk)
        let existing = existingFiles()
        // The file with the original name may be complete, although the part file of an earlier run has a numbered one.
        let wanted = target.backup.ownPaths == nil ? path : target.earlier?.path ?? path
        let known = [target.earlier?.path ?? path] + own.copies(of: wanted, from: transfer.sources[0], disk)
        let finalURL = transfer.facts.finalURL
        for path in known {
            if let found = existing.finished(at: path, as: representation, finalURL: finalURL, disk) {
                return .finished(found)
            }
        }
        if !target.wasCompared, let candidate = existing.candidate(among: known, representation.identity, disk) {
            return .compare(candidate)
        }
        if let there = try decided(by: path, disk) { return .finished(there) }
        target.chose(name, at: wanted)
        try await lookUpChecksum(for: names(of: representation, url: url))
        try checkSpace(in: directory, for: total, disk)
        report(.named(name: request.shownName(name), path: path.string))
        begun(name, total)
        if representation.isEncoded { report(.event(.note(Reason(.storedEncoded)))) }
        if let total, isSmall(representation), try !isReplaced(path, disk) {
            // Most small files fit in the reserve at once; a slow file moves to a part file before it has grown much.
            let reserve = min(Int(total), Self.smallFileReserve)
            return .write(.memory(MemorySink(name: name, directory: directory, reserve: reserve)))
        }
        for hint in existing.hints(of: name, in: directory, representation.identity, disk) {
            report(.event(.note(hint)))
        }
        warnOfRestarts(representation)
        switch try makeSession(name: name, in: directory, total: total, disk) {
        case .made(let session): return .write(.part(session))
        case .finished(let file): return .finished(file)
        }
    }

    /// Reports, before any byte arrives, that an interruption will cost all bytes.
    private func warnOfRestarts(_ representation: Representation) {
        let rules = transfer.facts.rules
        guard !representation.identity.hasValidator, !representation.refusesRanges, !rules.hasDigest,
            !rules.trust.resumesUnproven
        else { return }
        report(.event(.note(Reason(.wouldRestart))))
    }

    /// Reports the start, once for each file.
    private func begun(_ name: String, _ total: ByteCount?) {
        if target.started(name, total) {
            report(.event(LocalizedEvent(.started(name: request.shownName(name), totalBytes: total))))
        }
    }

    /// Returns the names under which a checksum list may contain the file.
    private func names(of representation: Representation, url: DownloadURL) -> [String] {
        let sources = transfer.sources
        return [SafeName.make(representation.suggestedName, url: sources[0], finalURL: url)] + own.names(from: sources)
    }

    /// Applies the rules `fail` and `skip` to an existing file, before any byte of the body is read.
    private func decided(by path: FilePath, _ disk: Disk) throws(DownloadError) -> FinishedDownload? {
        guard request.uploadTo == nil, request.onConflict == .fail || request.onConflict == .skip,
            earlierFile(disk) != path
        else { return nil }
        let status: FileStatus?
        do throws(FileError) { status = try disk.fileSystem.statusIfPresent(path) } catch {
            throw DownloadError(error)
        }
        return try status.map { status throws(DownloadError) in try skipped(path, length: status.length) }
    }

    /// Whether the new file needs a part file because it replaces something: a backup, whose removal after publication only a
    /// journal can announce; an existing file; or a part file that blocks the name.
    private func isReplaced(_ path: FilePath, _ disk: Disk) throws(DownloadError) -> Bool {
        guard request.uploadTo == nil else { return false }
        if target.backup.paths != nil { return true }
        guard request.onConflict == .overwrite else { return false }
        do throws(FileError) {
            if try disk.fileSystem.exists(path) { return true }
            return try disk.fileSystem.exists(DownloadPaths(final: path)?.part ?? path)
        } catch { throw DownloadError(error) }
    }

    /// Returns the existing file as the result if the rule is `skip` and the request has no digest to compare; otherwise throws.
    func skipped(_ path: FilePath, length: ByteCount) throws(DownloadError) -> FinishedDownload {
        guard request.onConflict == .skip, transfer.digest.requested == nil else {
            throw DownloadError(.conflict, ErrorPhrase(.thereAlready, "\(path)"), recovery: .needsUser)
        }
        report(.event(.note(Reason(.skipped, "\(path)"))))
        return FinishedDownload(
            path: path.string, totalBytes: length, proof: .none, wasAlreadyComplete: true,
            redactedFinalURL: transfer.facts.finalURL)
    }

    private func destination(
        for representation: Representation, url: DownloadURL, _ disk: Disk
    ) throws(DownloadError) -> (FilePath, String) {
        // A restart keeps the name of the interrupted download.
        if let own = target.backup.ownPaths { return (own.directory, own.name) }
        // A repeated download replaces the file that its earlier run has published.
        if let earlier = earlierFile(disk), let name = earlier.lastComponent {
            return (earlier.removingLastComponent(), name.string)
        }
        let suggested = representation.suggestedName
        if let wanted = request.wantedPlace(suggested: suggested, url: transfer.sources[0], finalURL: url) {
            return wanted
        }
        guard case .part(let path) = request.destination else {
            throw DownloadError(.internal, "a stream has no name")
        }
        guard let paths = DownloadPaths(of: FilePath(ofRequest: path)) else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.notAPartFile, "\(path)"))
        }
        return (paths.directory, paths.withWholeName(disk.fileSystem).name)
    }

    func checkSpace(in directory: FilePath, for total: ByteCount?, _ disk: Disk) throws(DownloadError) {
        try DirectorySpace(directory, reserve: settings.minFreeBytes, fileSystem: disk.fileSystem).require(total)
    }

    /// Adopts a backup under this name that belongs to a run interrupted before it had created its new part file.
    private func takeBackAside(_ name: String, in directory: FilePath, _ disk: Disk) {
        guard target.backup.ownPaths == nil,
            let paths = DownloadPaths(directory: directory, name: name),
            let record = try? Journal.read(at: paths.oldJournal, fileSystem: disk.fileSystem),
            record.names(transfer.sources[0]), !own.isAnothers(record.id)
        else { return }
        target.replaces(.found(paths, id: record.id))
    }

    /// Throws if the journal with this name is temporarily unreadable: it may belong to this download, and another name would
    /// discard its progress.
    private func checkUnread(_ name: String, in directory: FilePath, _ disk: Disk) throws(DownloadError) {
        guard let paths = DownloadPaths(directory: directory, name: name) else { return }
        do throws(JournalError) {
            _ = try Journal.read(at: paths.journal, fileSystem: disk.fileSystem)
        } catch {
            if error.mayPass { throw DownloadError(error) }
        }
    }

    /// Returns the properties of a new part file of this run.
    func order(name: String, in directory: FilePath) -> PartSession.Order {
        PartSession.Order(
            name: name, directory: directory, reserve: nil, backup: target.backup, mayReplace: false,
            statement: transfer.statement.statement,
            upload: target.object.map { JournalRecord.Upload(object: $0.text, id: nil) },
            events: transfer.lastRecord?.events ?? [])
    }

    private enum Made {
        case made(PartSession)
        case finished(FinishedDownload)
    }

    /// Creates a part file with its journal, and reports its name; or returns the existing file that the rule `skip` keeps.
    private func makeSession(
        name: String, in directory: FilePath, total: ByteCount?, _ disk: Disk
    ) throws(DownloadError) -> Made {
        var order = order(name: name, in: directory)
        if order.backup.ownPaths == nil { try checkUnread(name, in: directory, disk) }
        order.reserve = total
        order.mayReplace = earlierFile(disk) == directory.appending(name)
        switch try PartSession.create(order, own: own, environment, disk) {
        case .made(let session, let inTheWay):
            let paths = session.paths
            target.named(paths.name)
            if paths.name != name { report(.named(name: request.shownName(paths.name), path: paths.final.string)) }
            if let inTheWay {
                report(.event(.note(inTheWay.reason(forName: paths.name))))
            } else if paths.name != name {
                let wanted = DownloadPaths(directory: directory, name: name)
                let reason = wanted.flatMap { unusablePart(at: $0, insteadNamed: paths.name, disk) }
                report(.event(.note(reason ?? Reason(.nameTaken, paths.name))))
            }
            return .made(session)
        case .exists(let path):
            return .finished(try skipped(path, length: (try? disk.fileSystem.statusIfPresent(path))?.length ?? 0))
        case .blocked(let path): throw blocked(by: path, disk)
        case .noFreeName(let path):
            throw DownloadError(.conflict, ErrorPhrase(.noFreeName, "\(path)"), recovery: .needsUser)
        }
    }

    /// Returns the note that a part file or journal blocks the wanted name and cannot be resumed; `nil` if it can be, or if a
    /// finished file has the name.
    func unusablePart(at wanted: DownloadPaths, insteadNamed name: String, _ disk: Disk) -> Reason? {
        guard (try? disk.fileSystem.exists(wanted.final)) == false else { return nil }
        let cause: ErrorPhrase
        do throws(JournalError) {
            _ = try Journal.read(at: wanted.journal, fileSystem: disk.fileSystem)
            return nil
        } catch .missing { cause = ErrorPhrase(.noJournal) } catch {
            if error.mayPass { return nil }
            cause = error.phrase
        }
        let blocking = [wanted.part, wanted.journal].filter { (try? disk.fileSystem.exists($0)) == true }
        guard let first = blocking.first else { return nil }
        let all = blocking.map { ShellWord.quote($0.string) }.joined(separator: " ")
        return Reason(.unusablePartHere, "\(first)", cause, name, all)
    }

    // MARK: Small files

    /// Moves a small file to disk if it takes too long, so that its bytes survive a killed process.
    func spillIfSlow(at now: Duration) async {
        guard let start = transfer.startedAt, now - start >= Self.smallFilePatience else { return }
        await spillNow()
    }

    /// Moves a small file to disk, unless the storage is being replaced at this moment.
    func spillNow() async {
        // The lock's holder may be waiting for a server, and callers of this function must not wait.
        guard case .memory? = transfer.place, lock.tryAcquire() else { return }
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
        guard case .memory(let memory)? = transfer.place else { return }
        switch try makeSession(name: memory.name, in: memory.directory, total: nil, disk) {
        case .finished(let file):
            target.exists(file)
            updates.notify()
        case .made(let session):
            do throws(FileError) { try memory.move(to: session, disk) } catch {
                try? session.discard(disk)
                throw DownloadError(error)
            }
            transfer.moved(memory, to: session)
        }
    }

    // MARK: Letting go

    /// Moves unusable partial content to the backup, where it stays until the new file is published. Requires the
    /// lock.
    private func setAside(_ reason: Reason, _ disk: Disk) throws(DownloadError) {
        report(.event(.restarted(reason: reason)))
        transfer.happened(.restarted(reason: "\(reason)"), at: environment.clock.date())
        transfer.leavePlace()
        let backup = try transfer.outgoing?.sink.setAside(reason, for: asideOwner(), disk)
        if let backup { target.replaces(backup) }
        transfer.set(nil)
    }

    /// Removes the part file, which is no longer needed, and frees its name.
    func forget(_ disk: Disk) throws(DownloadError) {
        transfer.leavePlace()
        try transfer.outgoing?.sink.discard(disk)
        transfer.set(nil)
    }

    /// Performs a restart that the machine ordered before any response. Returns whether it succeeded.
    func restart(_ reason: Reason) async -> Bool {
        await lock.acquire()
        defer { lock.release() }
        do throws(DownloadError) {
            try await files.run { [self] disk throws(DownloadError) in try setAside(reason, disk) }
            transfer.restarted()
            return true
        } catch {
            // The remaining content is claimed once more before the run ends.
            if let place = transfer.outgoing { transfer.set(place) }
            fail(error)
            return false
        }
    }

    /// Removes all files of a cancelled download.
    func discard(_ disk: Disk) {
        removeAside(disk)
        try? forget(disk)
    }

    /// Closes the files of the run.
    func close() async {
        let open = [transfer.place, transfer.outgoing].compactMap(\.self)
        // A small file that was published from memory needs no file thread.
        let sinks = open.compactMap { place -> (any Sink)? in if case .memory = place { nil } else { place.sink } }
        if !sinks.isEmpty { await files.run { disk in for sink in sinks { sink.close(disk) } } }
    }

    /// Restores the backup that this run made if no new file replaces it, because an existing file is the result.
    func putBack() async {
        guard let own = target.backup.ownPaths else { return }
        await files.run { [self] disk in
            let backup = BackupPair(own, fileSystem: disk.fileSystem, syncs: request.syncsToDisk)
            guard (try? backup.restore()) == true,
                let record = try? Journal.read(at: own.journal, fileSystem: disk.fileSystem)
            else { return }
            environment.knownJournals(in: own.directory)?.add(own.journal, record)
        }
    }

    /// Removes the backup that this download's file replaces.
    func removeAside(_ disk: Disk) {
        guard let own = target.backup.paths else { return }
        try? BackupPair(own, fileSystem: disk.fileSystem, syncs: request.syncsToDisk).remove(of: asideOwner())
    }
}
