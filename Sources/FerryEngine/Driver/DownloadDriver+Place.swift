import FerryCore
import struct Foundation.Date
import Synchronization
import SystemPackage

/// Making a place for the bytes: memory, or a part file and its journal.
extension DownloadDriver {
    /// Files of a known length below this start in memory.
    static let smallFileBytes: ByteCount = 1 << 20
    /// The most memory that a small file has before its bytes are there.
    private static let smallFileReserve = 16 << 10
    /// A small file that is not there after this moves to the disk.
    static let smallFilePatience: Duration = .seconds(2)

    /// A file that starts in memory and is published whole.
    func isSmall(_ representation: Representation) -> Bool {
        guard let total = representation.identity.totalBytes, total < Self.smallFileBytes else { return false }
        return !representation.endsByClose && request.onConflict != .overwrite && context.replaces == nil
    }

    /// Puts what is held aside, when there is a reason to, and makes a place for this file.
    ///
    /// False when there is nothing to read: the file that is there already is the server's.
    func replace(_ reason: Reason?, _ representation: Representation, url: DownloadURL) async throws(DownloadError)
        -> Bool
    {
        await lock.acquire()
        defer { lock.release() }
        if let reason {
            try setAside(reason)
        } else {
            // An answer before this one made a place, and broke before its first byte.
            try forgetPair()
        }
        let isMade = try await makePlace(for: representation, url: url)
        state.withLock { $0.isReplacing = false }
        return isMade
    }

    private func makePlace(for representation: Representation, url: DownloadURL) async throws(DownloadError) -> Bool {
        let total = representation.identity.totalBytes
        state.withLock { $0.contentType = representation.identity.contentType }
        if case .stream(let stream) = storage.current {
            try await lookUpChecksum(for: names(of: representation, url: url))
            stream.follow(state.withLock { $0.digestToCheck }?.algorithm)
            begun(state.withLock { $0.name }, total)
            return true
        }
        let (directory, name) = try destination(for: representation, url: url)
        let path = directory.appending(name)
        takeBackAside(name, in: directory)
        if let existing = existing(at: state.withLock { $0.finishedPath } ?? path, representation: representation) {
            state.withLock { $0.existing = existing }
            updates.notify()
            return false
        }
        if try isDecided(by: path) { return false }
        state.withLock { $0.name = name }
        try await lookUpChecksum(for: names(of: representation, url: url))
        try checkSpace(in: directory, for: total)
        report(.named(name: name, path: path.string))
        begun(name, total)
        if let total, isSmall(representation) {
            var bytes: [UInt8] = []
            // No more than most of them need at once: a slow one goes into a part file before it has much.
            bytes.reserveCapacity(min(Int(total), Self.smallFileReserve))
            storage.set(.small(Storage.Small(bytes: bytes, name: name, directory: directory)))
            return true
        }
        guard let pair = try makePair(name: name, in: directory, total: total) else { return false }
        storage.set(.pair(pair))
        return true
    }

    /// Says that it has started, once for each file.
    private func begun(_ name: String, _ total: ByteCount?) {
        let isNews = state.withLock { state in
            defer { state.started = (name, total) }
            return state.started.map { $0 != (name, total) } ?? true
        }
        if isNews { report(.event(LocalizedEvent(.started(name: name, totalBytes: total)))) }
    }

    /// The names under which a list of digests may know it.
    private func names(of representation: Representation, url: DownloadURL) -> [String] {
        [SafeName.make(representation.suggestedName, url: sources[0], finalURL: url)] + namesBeforehand
    }

    /// Under the rules `fail` and `skip` a file that has the name decides before a byte of the body is read.
    private func isDecided(by path: FilePath) throws(DownloadError) -> Bool {
        guard request.onConflict == .fail || request.onConflict == .skip, earlierFile != path else { return false }
        let status: FileStatus?
        do throws(FileError) { status = try fileSystem.statusIfPresent(path) } catch {
            throw DownloadError(error)
        }
        guard let status else { return false }
        guard request.onConflict == .skip else {
            throw DownloadError(.conflict, ErrorPhrase(.thereAlready, "\(path)"), recovery: .needsUser)
        }
        skip(path, length: status.length)
        return true
    }

    /// The file that is there stays, as asked.
    func skip(_ path: FilePath, length: ByteCount) {
        report(.event(.note(Reason(.skipped, "\(path)"))))
        state.withLock {
            $0.existing = FinishedDownload(
                path: path.string, totalBytes: length, proof: .none, wasAlreadyComplete: true,
                finalURL: $0.finalURL?.redacted ?? "")
        }
        updates.notify()
    }

    private func destination(for representation: Representation, url: DownloadURL) throws(DownloadError) -> (
        FilePath, String
    ) {
        // What was begun under a name begins again under it.
        if let own = state.withLock({ $0.ownPaths }) { return (own.directory, own.name) }
        // What is fetched again is to take the place of what is there.
        if let earlier = earlierFile, let name = earlier.lastComponent {
            return (earlier.removingLastComponent(), name.string)
        }
        switch request.destination {
        case .stream: throw DownloadError(.internal, "a stream has no name")
        case .file(let path):
            let target = absolute(path)
            return (target.removingLastComponent(), target.lastComponent?.string ?? "download")
        case .directory(let path, _):
            return (absolute(path), SafeName.make(representation.suggestedName, url: sources[0], finalURL: url))
        case .part(let path):
            guard let paths = DownloadPaths(of: absolute(path)) else {
                throw DownloadError(.invalidRequest, ErrorPhrase(.notAPartFile, "\(path)"))
            }
            return (paths.directory, paths.name)
        }
    }

    func checkSpace(in directory: FilePath, for total: ByteCount?) throws(DownloadError) {
        let space = DirectorySpace(directory, floor: settings.minFreeBytes, fileSystem: fileSystem)
        do {
            if case .short(let free, let missing) = try space.check(needed: total ?? 0) {
                throw DownloadError(
                    .diskFull,
                    ErrorPhrase(.noSpace, "\(directory)", ByteText.size(free), ByteText.size(missing)),
                    suggestion: ErrorPhrase(.minFree, ByteText.size(settings.minFreeBytes)),
                    recovery: .needsUser)
            }
        } catch let error as DownloadError {
            throw error
        } catch let error as FileError {
            throw DownloadError(error)
        } catch { throw DownloadError(.disk, ErrorPhrase(.failedWith, "\(directory)", "\(error)")) }
    }

    /// What lies aside under this name was put there by a run that was cut before it had a new pair: the name is ours.
    private func takeBackAside(_ name: String, in directory: FilePath) {
        guard state.withLock({ $0.ownPaths }) == nil, let paths = DownloadPaths(directory: directory, name: name),
            let record = try? Journal.read(at: paths.oldJournal, fileSystem: fileSystem),
            record.urls.contains(sources[0].text), !isAnothers(record.id)
        else { return }
        state.withLock { state in
            state.ownAside = paths
            state.asideID = record.id
        }
    }

    /// A journal of this name that the disk does not give just now may be this download's own: to go on to the next name
    /// would be to begin it anew.
    private func checkUnread(_ name: String, in directory: FilePath) throws(DownloadError) {
        guard let paths = DownloadPaths(directory: directory, name: name) else { return }
        do throws(JournalError) {
            _ = try Journal.read(at: paths.journal, fileSystem: fileSystem)
        } catch {
            if error.mayPass { throw DownloadError(error) }
        }
    }

    /// Takes the name with a part file, writes the first journal, reserves the space.
    private func makePair(
        name: String, in directory: FilePath, total: ByteCount?
    ) throws(DownloadError) -> Storage.Pair? {
        if state.withLock({ $0.ownPaths }) == nil { try checkUnread(name, in: directory) }
        let taken: NameTaker.Result
        do throws(PartFileError) {
            if let paths = state.withLock({ $0.ownPaths }) {
                // The name is ours already; what was there was put aside.
                taken = .taken(try PartFile.create(at: paths.part, fileSystem: fileSystem), paths, nil)
            } else {
                taken = try NameTaker(
                    fileSystem: fileSystem, ownAside: state.withLock { $0.ownAside },
                    numbered: SafeName.numbered
                )
                .take(
                    name, in: directory, rule: request.onConflict,
                    mayReplace: earlierFile == directory.appending(name))
            }
        } catch { throw DownloadError(error) }
        switch taken {
        case .taken(let part, let paths, let inTheWay):
            let journal: Journal
            do throws(JournalError) {
                let record = makeRecord(name: paths.name, part: part)
                journal = try Journal.create(
                    at: paths.journal, record: record, fileSystem: fileSystem,
                    syncs: request.syncsToDisk)
                state.withLock { state in
                    state.record = record
                    state.name = paths.name
                }
                environment.knownJournals(in: directory)?.add(paths.journal, record)
            } catch {
                // It may be there, only not durably: alone it would be in the way of its own name.
                if (try? Journal.read(at: paths.journal, fileSystem: fileSystem))?.id == id.rawValue {
                    // allow(ours): its id says that this run has made it.
                    try? fileSystem.removeIfPresent(paths.journal)
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
            if let inTheWay { report(.event(.note(inTheWay.reason(forName: paths.name)))) }
            return Storage.Pair(paths: paths, part: part, journal: journal)
        case .exists(let path):
            if request.onConflict == .skip {
                skip(path, length: (try? fileSystem.statusIfPresent(path))?.length ?? 0)
                return nil
            }
            throw DownloadError(.conflict, ErrorPhrase(.thereAlready, "\(path)"), recovery: .needsUser)
        case .blocked(let path): throw blocked(by: path)
        case .noFreeName(let path):
            throw DownloadError(.conflict, ErrorPhrase(.noFreeName, "\(path)"), recovery: .needsUser)
        }
    }

    private func makeRecord(name: String, part: PartFile) -> JournalRecord {
        state.withLock { state in
            var record = JournalRecord(
                id: id.rawValue, urls: state.sources.map(\.text), name: name,
                totalBytes: state.machine.planner.total, identity: state.machine.identity,
                checksum: state.checksum?.description, partDevice: part.device, partInode: part.inode,
                createdAt: environment.clock.date().timeIntervalSince1970)
            record.partCreated = part.created?.pair
            record.trust = request.trust
            record.root = request.root
            record.take(state.tags)
            record.events = state.record?.events ?? []
            return record
        }
    }

    // MARK: Small files

    /// A small file that takes long moves to the disk, where a kill cannot reach it.
    func spillIfSlow(at now: Duration) async {
        guard let start = state.withLock({ $0.startedAt }), now - start >= Self.smallFilePatience else { return }
        await spillNow()
    }

    /// Moves a small file to the disk, unless just now the place changes anyway.
    func spillNow() async {
        // Who has the turn may wait for a server, and whoever calls this must not.
        guard case .small = storage.current, lock.tryAcquire() else { return }
        defer { lock.release() }
        do throws(DownloadError) { try spillInTurn() } catch { fail(error) }
    }

    /// Moves a small file from memory to a part file and journal.
    func spill() async throws(DownloadError) {
        await lock.acquire()
        defer { lock.release() }
        try spillInTurn()
    }

    private func spillInTurn() throws(DownloadError) {
        guard case .small(let small) = storage.current, !state.withLock({ $0.isReplacing }) else { return }
        guard let pair = try makePair(name: small.name, in: small.directory, total: nil) else { return }
        do throws(FileError) { try storage.spill(to: pair) } catch {
            try? pair.part.remove()
            try? pair.journal.remove()
            throw DownloadError(error)
        }
    }

    // MARK: Letting go

    /// What is held cannot be used: it stays beside, until the new one is published. Called in turn.
    func setAside(_ reason: Reason) throws(DownloadError) {
        report(.event(.restarted(reason: reason)))
        state.withLock { $0.record?.append(.restarted(reason: "\(reason)"), at: environment.clock.date()) }
        switch storage.current {
        case .none: return
        case .small: storage.set(.none)
        case .stream:
            throw DownloadError(
                .remoteChanged, ErrorPhrase(.changedInStream, reason))
        case .pair(let pair):
            let aside = BackupPair(pair.paths, fileSystem: fileSystem, syncs: request.syncsToDisk)
            do throws(FileError) {
                guard try aside.isFree(for: asideOwner()) else {
                    // What lies there is not this download's: the pair stays, and another name is taken.
                    storage.close()
                    return state.withLock { $0.ownPaths = nil }
                }
                try aside.move()
            } catch { throw DownloadError(error) }
            environment.knownJournals(in: pair.paths.directory)?.remove(pair.paths.journal)
            storage.close()
            let old = try? Journal.read(at: pair.paths.oldJournal, fileSystem: fileSystem)
            state.withLock { state in
                state.ownPaths = pair.paths
                state.asideID = old?.id
            }
        }
    }

    /// A pair that claims nothing: it goes, and its name is free again.
    func forgetPair() throws(DownloadError) {
        guard let pair = storage.pair else { return }
        // A part file without its journal would be in the way of its name for ever: so that one goes last.
        do throws(FileError) { try pair.part.remove() } catch { throw DownloadError(error) }
        do throws(JournalError) { try pair.journal.remove() } catch { throw DownloadError(error) }
        environment.knownJournals(in: pair.paths.directory)?.remove(pair.paths.journal)
        storage.close()
    }

    /// The machine asked for a restart before any answer.
    func restart(_ reason: Reason) async -> Bool {
        await lock.acquire()
        defer { lock.release() }
        do throws(DownloadError) {
            try setAside(reason)
            state.withLock { state in
                state.machine.restarted()
                state.offered = nil
            }
            return true
        } catch {
            fail(error)
            return false
        }
    }

    /// Cancelled: nothing stays.
    func discard() {
        removeAside()
        try? forgetPair()
        storage.close()
    }

    /// What was put aside in favour of this file goes.
    func removeAside() {
        guard let own = state.withLock({ $0.ownPaths ?? $0.ownAside }) else { return }
        try? BackupPair(own, fileSystem: fileSystem, syncs: false).remove(of: asideOwner())
    }
}
