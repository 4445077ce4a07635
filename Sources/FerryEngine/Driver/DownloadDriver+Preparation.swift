import FerryCore
import Synchronization
import SystemPackage

/// Preparation before the first request: finds the files of earlier runs.
extension DownloadDriver {
    /// Looks for existing files and initializes the machine. Returns a result if nothing has to be fetched at all.
    func prepare(_ disk: Disk) async throws(DownloadError) -> FinishedDownload? {
        _ = try request.destination.resolved()
        if let paths = pathsOfLastRun(disk) { return try await goOn(with: paths, isNamed: true, disk) }
        switch request.destination {
        case .stream(let descriptor):
            storage.set(.stream(OutputStream(descriptor)))
            begin(with: nil)
            return nil
        case .part(let path):
            guard let paths = DownloadPaths(of: absolute(path)) else {
                throw DownloadError(.invalidRequest, ErrorPhrase(.notAPartFile, "\(path)"))
            }
            if try isForeign(absolute(path), paths, disk) {
                try begin(withHalf: absolute(path), disk)
                return nil
            }
            return try await goOn(with: paths, isNamed: true, disk)
        case .file(let path):
            let target = absolute(path)
            guard let name = target.lastComponent?.string,
                let paths = DownloadPaths(directory: target.removingLastComponent(), name: name)
            else { throw DownloadError(.invalidRequest, ErrorPhrase(.notAFileName, "\(path)")) }
            try ready(paths.directory, disk)
            if let begun = try begun(paths, disk) { return try await goOn(with: begun, isNamed: false, disk) }
            return try await lookForFinished(paths.final, disk)
        case .directory(let path, _):
            let directory = absolute(path)
            try ready(directory, disk)
            if let journal = try journal(for: request.sources[0].text, in: directory, disk),
                let paths = DownloadPaths(of: journal)
            {
                return try await goOn(with: paths, isNamed: false, disk)
            }
            let name = state.withLock { $0.placement.name }
            if let own = DownloadPaths(directory: directory, name: name)?.journal,
                let problem = try problem(with: own, in: directory, disk), problem.flaw == nil
            {
                report(.event(.note(Reason(.otherNameBegun, problem.phrase))))
            }
            return try await lookForFinished(directory.appending(name), disk)
        }
    }

    private func hasJournal(_ paths: DownloadPaths, _ disk: Disk) throws(DownloadError) -> Bool {
        do throws(FileError) {
            if try disk.fileSystem.exists(paths.journal) { return true }
            return try disk.fileSystem.exists(paths.oldJournal)
        } catch { throw DownloadError(error) }
    }

    /// Returns the paths of an earlier download of the URL that was to have this name: under the name itself or, if it
    /// was in use, a numbered one.
    private func begun(_ paths: DownloadPaths, _ disk: Disk) throws(DownloadError) -> DownloadPaths? {
        let most = request.onConflict == .rename ? NameTaker.maxNumber : 0
        for number in 0...most {
            guard let source = request.sources.first,
                let next = DownloadPaths(paths.name, number: number, in: paths.directory)
            else { break }
            let record = try? Journal.read(at: next.journal, fileSystem: disk.fileSystem)
            if let record, !isAnothers(record.id), record.names(source) { return next }
            if !next.isInUse(disk.fileSystem) { break }
        }
        return try hasJournal(paths, disk) ? paths : nil
    }

    /// Whether the file at a requested path is there, without a journal.
    private func isForeign(_ path: FilePath, _ paths: DownloadPaths, _ disk: Disk) throws(DownloadError) -> Bool {
        if try hasJournal(paths, disk) { return false }
        do throws(FileError) { return try disk.fileSystem.exists(path) } catch { throw DownloadError(error) }
    }

    /// Returns the normalized path; the manager has made paths absolute.
    func absolute(_ path: String) -> FilePath { FilePath(path).lexicallyNormalized() }

    /// Creates the directory if needed and throws if it is not writable, before any byte is fetched.
    private func ready(_ directory: FilePath, _ disk: Disk) throws(DownloadError) {
        do throws(FileError) {
            if let status = try disk.fileSystem.statusIfPresent(directory) {
                if status.kind == .symbolicLink, let root = request.root, absolute(root) != directory {
                    throw FileError(.open, directory, kind: .confined)
                }
            } else {
                try disk.fileSystem.makeDirectories(directory, syncs: request.syncsToDisk)
            }
        } catch { throw DownloadError(error) }
        guard disk.fileSystem.isWritable(directory) else {
            throw DownloadError(.disk, ErrorPhrase(.directoryReadOnly, "\(directory)"))
        }
    }

    /// Returns the journal of an earlier download of the URL. One whose name was chosen is left, unless it is the
    /// expected one: a program looks for the file there. So is one whose name avoids a conflict about which the request
    /// has another rule. That is reported.
    private func journal(
        for url: String, in directory: FilePath, _ disk: Disk
    ) throws(DownloadError) -> FilePath? {
        do {
            let index = try environment.journals(in: directory, disk)
            index.lookAgain(with: disk.fileSystem)
            let paths = index.paths(forURL: url)
            if paths.isEmpty { return nil }
            let records = index.records
            let own = paths.filter { path in records[path].map { !isAnothers($0.id) } ?? true }
            let name = state.withLock { $0.placement.name }
            let found = own.first { path in
                let original = DownloadPaths(of: path)?.unnumbered
                if request.onConflict != .rename, let original, original.isInUse(disk.fileSystem) { return false }
                let requested = records[path]?.requestedName
                return [requested, original?.name].contains { $0?.hasSameBytes(as: name) == true } || requested == nil
            }
            if let found { return found }
            if let part = own.first.flatMap(DownloadPaths.init(of:))?.part {
                report(.event(.note(Reason(.partOfOtherName, "\(part)", ShellWord.quote(part.string)))))
            }
            return nil
        } catch { throw DownloadError(error) }
    }

    /// Returns why the journal at this download's default path cannot be used.
    private func problem(
        with path: FilePath, in directory: FilePath, _ disk: Disk
    ) throws(DownloadError) -> JournalError? {
        do { return try environment.journals(in: directory, disk).problems.first { $0.path == path }?.error } catch {
            throw DownloadError(error)
        }
    }

    // MARK: Existing journals

    private func goOn(
        with given: DownloadPaths, isNamed: Bool, _ disk: Disk
    ) async throws(DownloadError) -> FinishedDownload? {
        let paths = withWholeName(given, disk)
        try putBack(paths, disk)
        let journal: Journal
        var record: JournalRecord
        do throws(JournalError) {
            (journal, record) = try Journal.open(
                at: paths.journal, fileSystem: disk.fileSystem, syncs: request.syncsToDisk)
        } catch {
            if case .missing = error, !isNamed {
                // The journal existed when the directory was read; another process has finished it since.
                environment.knownJournals(in: paths.directory)?.remove(paths.journal)
                return try await lookForFinished(paths.final, disk)
            }
            if case .locked = error, !isNamed, isOfAnotherRequest(paths, disk) {
                begin(with: nil)
                return nil
            }
            if case .locked = error { throw DownloadError(error) }
            if isNamed || error.mayPass { throw DownloadError(error) }
            // An ownership flaw is reported later, together with the name that is taken instead.
            if error.flaw == nil { report(.event(.note(Reason(.otherNameBegun, error.phrase)))) }
            begin(with: nil)
            return nil
        }
        if isAnothers(record.id) {
            journal.close()
            guard !isNamed else {
                throw DownloadError(.conflict, ErrorPhrase(.belongsToAnother, "\(paths.part)"), recovery: .needsUser)
            }
            begin(with: nil)
            return nil
        }
        if isAskedFor(record) {
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
            return try await settle(finished, record, journal, paths, disk)
        }
        if let there = try await existing(instead: paths, journal, disk) { return there }
        let part: PartFile
        do throws(PartFileError) {
            part = try PartFile.open(paths.part, fileSystem: disk.fileSystem)
        } catch {
            if case .missing = error {
                if let moving {
                    journal.close()
                    throw DownloadError(FileError(.rename, paths.part, kind: .lostOnTheWay(to: FilePath(moving.part))))
                }
                report(.event(.note(Reason(.journalAlone, "\(paths.part)"))))
                try? journal.remove()
                journal.close()
                try keepName(paths, record, disk)
                environment.knownJournals(in: paths.directory)?.remove(paths.journal)
                if request.sources.isEmpty { throw DownloadError(error) }
                begin(with: nil)
                return nil
            }
            journal.close()
            if error.flaw != nil, !isPartRequest {
                // Another name is taken, and the reason is reported then.
                begin(with: nil)
                return nil
            }
            throw DownloadError(error)
        }
        if record.isPaused == true || record.isTaken == true {
            // Without this write, a list rebuilt from journals before the next checkpoint would pause the download
            // again or leave it out.
            (record.isPaused, record.isTaken) = (nil, nil)
            do throws(JournalError) { try journal.write(record) } catch { throw DownloadError(error) }
        }
        storage.set(.pair(Storage.Pair(paths: paths, part: part, journal: journal)))
        try await adopt(record, part: part, paths: paths, disk)
        return nil
    }

    /// The names under which a checksum list may contain the file, as far as they are known before a response.
    var namesBeforehand: [String] {
        var names = sources.prefix(1).map { SafeName.make(nil, url: $0, finalURL: nil) }
        switch request.destination {
        case .file(let path), .part(let path):
            if let name = DownloadPaths(of: absolute(path))?.name { names.append(name) }
        case .directory, .stream: break
        }
        return names
    }

    /// Initializes the machine from the journal's record.
    private func adopt(
        _ record: JournalRecord, part: PartFile, paths: DownloadPaths, _ disk: Disk
    ) async throws(DownloadError) {
        var record = record
        let expected = ExpectedDigest(request, record, isSameDownload: record.id == id.rawValue)
        if let checksum = expected.dropped { report(.event(.note(Reason(.checksumDropped, "\(checksum)")))) }
        if let checksum = expected.requested, request.checksum == nil {
            report(.event(.note(Reason(.checksumKept, "\(checksum)"))))
        }
        record.id = id.rawValue
        record.take(state.withLock { $0.placement.tags })
        environment.knownJournals(in: paths.directory)?.add(paths.journal, record)
        var claims = RangeSet<ByteCount>(pairs: record.claimed) ?? RangeSet()
        var isDoubtful = false
        if let boot = record.unsyncedBoot, boot != disk.fileSystem.bootID, expected.requested == nil {
            report(.event(.note(Reason(.wasNotSynced))))
            claims = RangeSet()
        }
        do {
            let length = try part.length()
            if let last = claims.ranges.last, last.upperBound > length {
                report(.event(.note(Reason(.partShortened, ByteText.size(length)))))
                claims = claims.intersection(RangeSet(0..<length))
                isDoubtful = true
            }
        } catch { throw DownloadError(error) }
        let isRemade = record.partCreated != nil && part.created != nil && record.partCreated != part.created?.pair
        if part.device != record.partDevice || part.inode != record.partInode || isRemade {
            report(.event(.note(Reason(.partMovedHere))))
            isDoubtful = true
            record.partDevice = part.device
            record.partInode = part.inode
            record.partCreated = part.created?.pair
        }
        let known = record.urls.compactMap { try? DownloadURL($0) }
        let given = request.sources.isEmpty ? known : request.sources
        guard !given.isEmpty else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.journalWithoutURL, "\(paths.journal)"))
        }
        let isNew = !record.names(given[0])
        let sources = isNew ? given : Self.merge(given, known)
        let name = record.name
        let final = record
        state.withLock { state in
            state.links.urls = sources
            state.placement.name = name
            state.digest = expected
            state.placement.record = final
        }
        report(.named(name: name, path: paths.final.string))
        try await lookUpChecksum(for: [name] + namesBeforehand)
        let wanted = state.withLock { $0.digest.requested ?? $0.digest.offered }
        if let mismatch = record.mismatch, !request.ignoresEarlierChecksum,
            wanted?.description ?? mismatch.expected == mismatch.expected
        {
            // The part file does not have the requested digest, so its bytes are useless.
            try setAside("its digest was \(mismatch.actual), not \(mismatch.expected)", disk)
            state.withLock { $0.digest.offered = nil }
            begin(with: nil)
            return
        }
        if wanted == nil, record.checksum ?? record.offered != nil, let join = record.weakestJoin, join < .sampled,
            !request.trust.allowsUnprovenParts
        {
            try setAside(Reason(.joinedForDigest), disk)
            begin(with: nil)
            return
        }
        if claims.isEmpty {
            state.withLock { $0.digest.offered = nil }
            if record.claimed.isEmpty {
                try forgetPair(disk)
                try keepName(paths, record, disk)
            } else {
                try setAside("nothing of it can be believed", disk)
            }
            begin(with: nil)
            return
        }
        if claims.pairs != record.claimed, let journal = storage.pair?.journal(disk) {
            // Retract the claims before any byte changes: the next write would hide that the file had been truncated.
            record.claimed = claims.pairs
            let retracted = record
            state.withLock { $0.placement.record = retracted }
            do throws(JournalError) { try journal.retract(retracted) } catch { throw DownloadError(error) }
        }
        let identity =
            isNew
            ? FileIdentity(totalBytes: record.totalBytes, contentType: record.identity.contentType) : record.identity
        let held = PartialContent(identity: identity, ranges: claims)
        begin(
            with: held, total: record.totalBytes, weakestJoin: record.weakestJoin,
            isNewSource: isNew, isDoubtful: isDoubtful)
    }

    /// Restores the backup after a crash that left it without a new part file.
    private func putBack(_ paths: DownloadPaths, _ disk: Disk) throws(DownloadError) {
        let aside = BackupPair(paths, fileSystem: disk.fileSystem, syncs: request.syncsToDisk)
        do throws(FileError) {
            guard try aside.isPresent() else { return }
            let record = try? Journal.read(at: paths.journal, fileSystem: disk.fileSystem)
            if record == nil {
                guard try aside.record() != nil else { return }
            }
            if try aside.moveBack(beside: record?.partInode) {
                report(.event(.note(Reason(.putBack))))
            }
        } catch { throw DownloadError(error) }
    }

    /// Keeps the name if its backup belongs to this download: the backup would block the name for a new part file.
    private func keepName(_ paths: DownloadPaths, _ record: JournalRecord, _ disk: Disk) throws(DownloadError) {
        let aside = BackupPair(paths, fileSystem: disk.fileSystem, syncs: request.syncsToDisk)
        let old: JournalRecord?
        do throws(FileError) { old = try aside.record(of: asideOwner(record)) } catch { throw DownloadError(error) }
        guard let old else { return }
        state.withLock { $0.placement.backup = .own(paths, id: old.id) }
    }

    private var isPartRequest: Bool { if case .part = request.destination { true } else { false } }

    /// Merges the sources without duplicates: first the one that sent the validators, then the others, in the given
    /// form where there is one.
    private static func merge(_ given: [DownloadURL], _ known: [DownloadURL]) -> [DownloadURL] {
        let named = given.flatMap { [($0.text, $0), (DownloadURL.earlierText(of: $0.text) ?? $0.text, $0)] }
        let own = Dictionary(named) { first, _ in first }
        var seen: Set<String> = []
        let all = (known.prefix(1) + given + known).map { own[$0.text] ?? $0 }.filter { seen.insert($0.text).inserted }
        return Array(all.prefix(DownloadRequest.mostSources))
    }

    /// Initializes the machine.
    func begin(
        with held: PartialContent?, total: ByteCount? = nil, weakestJoin: Proof? = nil, isNewSource: Bool = false,
        isDoubtful: Bool = false, finished: FileIdentity? = nil
    ) {
        var rules = TransferMachine.Settings()
        var isStream = false
        if case .stream = request.destination { isStream = true }
        rules.memory = context.retries ?? RetryMemory()
        rules.stallTimeout = settings.stallTimeout
        (rules.maxAttempts, rules.maxFirstAttempts) = (settings.maxAttempts, settings.maxFirstAttempts)
        rules.maxBytes = request.maxBytes
        rules.expectedBytes = request.expectedBytes
        rules.syncs = request.syncsToDisk && !isStream
        rules.isStream = isStream
        rules.isNewSource = isNewSource
        rules.doubtsHeld = isDoubtful
        state.withLock { state in
            rules.sources = state.links.urls.count
            rules.sourceNames = state.links.urls.map(\.redacted)
            rules.maxConnections = isStream ? 1 : state.maxConnections
            rules.rules = ResumeRules(
                trust: request.trust, hasDigest: state.digest.requested != nil || request.hasDigest)
            state.machine = TransferMachine(
                settings: rules, held: held, total: total, weakestJoin: weakestJoin, finished: finished)
            state.startedAt = environment.clock.now()
        }
        report(.state(.downloading))
    }
}
