import FerryCore
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// A part file and its journal, both locked by this process, from the first byte to the published file.
///
/// ```
/// create ───────┐              ┌─ checkpoint: sync, then claim                          ┌─► publish ─► removeRest
/// adopt ────────┼───► write ───┼─ retract: in the journal; then the bytes may change    ┼─► setAside (the backup)
/// init ─► take ─┘              └─ reopen: after a fault of the disk                     └─► discard, close
/// ```
/// During the run only this type writes the journal: each record is created here, from the last one and a ``JournalStatement``
/// of the run. Before the run, ``Preparation`` writes it.
///
/// Invariants: a range is claimed in this order: its writes return, a sync begins and ends, the record is written; without syncs
/// the record names the boot instead. No record, in either slot, claims a byte that may change.
///
/// File access needs a ``Disk``; any thread may read the record and add events to it. Other calls are mutually exclusive as
/// ``Sink`` describes.
final class PartSession: Sink {
    let paths: DownloadPaths
    /// The device and the inode number of the part file, which stay the same for as long as the session lasts.
    let inode: (device: UInt64, number: UInt64)
    private let own: OwnFiles
    private let environment: EngineEnvironment
    private let journal: Journal
    private let state: Mutex<State>

    private struct State {
        var part: PartFile
        /// The number of times the part file was reopened.
        var reopenings = 0
        /// The newest record, with the events for the next one.
        var record: JournalRecord
        /// Whether the part file was found truncated. Nothing is claimed after that: the missing bytes are unknown, and later
        /// writes hide the truncation.
        var isTruncated = false
    }

    /// Adopts files that are already open and locked, and the record that was read from the journal.
    init(
        _ paths: DownloadPaths, _ part: PartFile, _ journal: Journal, _ record: JournalRecord, own: OwnFiles,
        _ environment: EngineEnvironment
    ) {
        self.paths = paths
        self.own = own
        self.environment = environment
        self.journal = journal
        inode = (part.device, part.inode)
        state = Mutex(State(part: part, record: record))
    }

    private var syncs: Bool { own.request.syncsToDisk }
    /// The shared journal index of the directory, which ``Preparation`` also updates; `nil` if it is not in memory.
    private var index: JournalIndex? { environment.knownJournals(in: paths.directory) }

    var record: JournalRecord { state.withLock { $0.record } }

    func part(_ disk: Disk) -> PartFile { state.withLock { $0.part } }

    // MARK: Making

    /// The properties of a new part file.
    struct Order {
        /// The wanted name.
        var name: String
        var directory: FilePath
        /// The number of bytes for which space is reserved; `nil` for none.
        var reserve: ByteCount?
        /// The backup of this download. If this run made the backup, the new part file gets its paths.
        var backup: Prepared.Backup
        /// Whether the finished file replaces an existing file with its name.
        var mayReplace: Bool
        var statement: JournalStatement
        /// The object that the file becomes.
        var upload: JournalRecord.Upload?
        /// The events of the download so far.
        var events: [JournalRecord.Entry]
    }

    enum Creation {
        /// The obstacle is the reason for a name other than the wanted one.
        case made(PartSession, NameTaker.InTheWay?)
        /// The final name exists, and the rule is `fail` or `skip`.
        case exists(FilePath)
        case blocked(FilePath)
        case noFreeName(FilePath)
    }

    /// Reserves a name, creates the part file, writes the first journal and allocates the space.
    static func create(
        _ order: Order, own: OwnFiles, _ environment: EngineEnvironment, _ disk: Disk
    ) throws(DownloadError) -> Creation {
        let taken: NameTaker.Result
        do throws(PartFileError) {
            if let paths = order.backup.ownPaths {
                // The name already belongs to this download, and its earlier files are in the backup.
                taken = .taken(try PartFile.create(at: paths.part, fileSystem: disk.fileSystem), paths, nil)
            } else {
                // The conflict rule of an upload applies to its object.
                let rule = own.request.uploadTo == nil ? own.request.onConflict : .rename
                taken = try NameTaker(fileSystem: disk.fileSystem, ownAside: order.backup.foundPaths)
                    .take(order.name, in: order.directory, rule: rule, mayReplace: order.mayReplace)
            }
        } catch { throw DownloadError(error) }
        switch taken {
        case .taken(let part, let paths, let inTheWay):
            let record = JournalRecord(order, named: paths.name, part, own: own, environment)
            let session = try make(paths, part, record, reserve: order.reserve, own: own, environment, disk)
            return .made(session, inTheWay)
        case .exists(let path): return .exists(path)
        case .blocked(let path): return .blocked(path)
        case .noFreeName(let path): return .noFreeName(path)
        }
    }

    private static func make(
        _ paths: DownloadPaths, _ part: PartFile, _ record: JournalRecord, reserve: ByteCount?, own: OwnFiles,
        _ environment: EngineEnvironment, _ disk: Disk
    ) throws(DownloadError) -> PartSession {
        let journal: Journal
        do throws(JournalError) {
            journal = try Journal.create(
                at: paths.journal, record: record, fileSystem: disk.fileSystem, syncs: own.request.syncsToDisk)
        } catch {
            // The journal may exist but not be durable. Without its part file it would block this file name, so
            // delete it.
            if (try? Journal.read(at: paths.journal, fileSystem: disk.fileSystem))?.id == own.id.rawValue {
                // allow(ours): its id shows that this run created it.
                try? disk.fileSystem.removeIfPresent(paths.journal)
            }
            try? part.remove()
            throw DownloadError(error)
        }
        let session = PartSession(paths, part, journal, record, own: own, environment)
        session.index?.add(paths.journal, record)
        if let reserve {
            do throws(FileError) { _ = try part.preallocate(total: reserve) } catch {
                try? session.discard(disk)
                // Other downloads have taken the space since it was checked: the error states how much is missing now.
                if error.kind == .noSpace {
                    try DirectorySpace(paths.directory, reserve: 0, fileSystem: disk.fileSystem).require(reserve)
                }
                throw DownloadError(error)
            }
        }
        return session
    }

    /// Makes the partial file of another program the part file, after its samples have matched. The bytes that the statement
    /// claims are synced first.
    static func adopt(
        _ half: ExistingFile, _ order: Order, own: OwnFiles, _ environment: EngineEnvironment, _ disk: Disk
    ) throws(DownloadError) -> PartSession {
        do throws(FileError) {
            if let flaw = disk.fileSystem.flaw(of: half.status, at: half.path) {
                throw FileError(.open, half.path, kind: .notOurs(flaw))
            }
        } catch { throw DownloadError(error) }
        guard half.isUnchanged(disk) else { throw DownloadError(.disk, ErrorPhrase(.partReplaced, "\(half.path)")) }
        guard let paths = freePaths(for: half, order, disk) else {
            throw DownloadError(.conflict, ErrorPhrase(.noFreeName, "\(half.path)"), recovery: .needsUser)
        }
        let part: PartFile
        do throws(FileError) {
            if half.path != paths.part {
                try disk.fileSystem.rename(half.path, to: paths.part, replacing: false)
            }
        } catch { throw DownloadError(error) }
        do throws(PartFileError) { part = try PartFile.open(paths.part, fileSystem: disk.fileSystem) } catch {
            throw DownloadError(error)
        }
        do throws(FileError) {
            try part.adopt()
            // The bytes must be durable before the journal claims them.
            try part.dataSync()
        } catch {
            part.close()
            throw DownloadError(error)
        }
        let record = JournalRecord(order, named: paths.name, part, own: own, environment)
        let journal: Journal
        do throws(JournalError) {
            journal = try Journal.create(
                at: paths.journal, record: record, fileSystem: disk.fileSystem, syncs: own.request.syncsToDisk)
        } catch {
            part.close()
            throw DownloadError(error)
        }
        let session = PartSession(paths, part, journal, record, own: own, environment)
        session.index?.add(paths.journal, record)
        half.file.close()
        // allow(ours): it was read together with the partial file, whose bytes the journal records now.
        if let control = half.control { try? disk.fileSystem.removeIfPresent(control) }
        return session
    }

    /// Returns the first paths for the name, numbered if needed, at which no file other than the partial file exists.
    private static func freePaths(for half: ExistingFile, _ order: Order, _ disk: Disk) -> DownloadPaths? {
        for number in 0...NameTaker.maxNumber {
            guard let paths = DownloadPaths(order.name, number: number, in: order.directory) else { return nil }
            let all = [paths.final, paths.part, paths.journal, paths.newJournal, paths.oldPart, paths.oldJournal]
            if all.allSatisfy({ $0 == half.path || (try? disk.fileSystem.exists($0)) == false }) { return paths }
        }
        return nil
    }

    /// Replaces the record with this run's version.
    ///
    /// - Parameter isRetracted: Whether the record claims less than the journal. The rest is retracted now, because after the
    ///   next write the truncation of the file is no longer detectable.
    func take(_ record: JournalRecord, isRetracted: Bool) throws(DownloadError) {
        state.withLock { $0.record = record }
        guard isRetracted else { return }
        do throws(JournalError) { try journal.retract(record) } catch { throw DownloadError(error) }
    }

    // MARK: Bytes

    var isRewritable: Bool { true }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: ByteCount, _ disk: Disk?) throws(FileError) -> Bool {
        guard let disk else { return false }
        try part(disk).write(bytes, at: offset)
        return true
    }

    func write(_ bytes: [UInt8], at offset: ByteCount, _ disk: Disk) throws(FileError) {
        try part(disk).write(bytes, at: offset)
    }

    func read(_ range: Range<ByteCount>, _ disk: Disk) -> [UInt8]? { try? part(disk).read(range) }

    /// The number of times the part file was reopened. Code that keeps the ``PartFile`` compares this number before each use.
    var reopenings: Int { state.withLock { $0.reopenings } }

    /// Closes and reopens the part file after a disk fault.
    func reopen(_ disk: Disk) throws(DownloadError) {
        part(disk).close()
        let new: PartFile
        do throws(PartFileError) { new = try PartFile.open(paths.part, fileSystem: disk.fileSystem) } catch {
            throw DownloadError(error)
        }
        guard (new.device, new.inode) == inode else {
            new.close()
            throw Self.damaged(.partReplaced, paths)
        }
        state.withLock { state in
            state.part = new
            state.reopenings += 1
        }
    }

    // MARK: The journal

    private func next(_ statement: JournalStatement) -> JournalRecord {
        state.withLock { state in
            var record = state.record
            record.take(statement)
            if state.isTruncated { record.claimed = [] }
            return record
        }
    }

    private var isTruncated: Bool { state.withLock { $0.isTruncated } }

    /// Stops claiming bytes and retracts all claims.
    private func foundTruncated(_ statement: JournalStatement) {
        state.withLock { state in
            state.isTruncated = true
            state.record.claimed = []
        }
        // If this fails, the next checkpoint tries again.
        try? journal.retract(next(statement))
    }

    /// Keeps a written record, with the events that were added meanwhile.
    private func wrote(_ record: JournalRecord) {
        state.withLock { state in
            let events = state.record.events
            state.record = record
            state.record.events = events
        }
    }

    /// Adds an event to the next record.
    func append(_ event: DownloadEvent.Kind, at date: Date) { state.withLock { $0.record.append(event, at: date) } }

    func checkpoint(_ statement: JournalStatement, _ disk: Disk) throws(ClaimFailure) -> Bool {
        var record = next(statement)
        let part = part(disk)
        let start = environment.clock.now()
        do throws(FileError) { if syncs { try part.dataSync() } } catch { throw .sync(error) }
        if syncs { environment.metrics.synced(in: environment.clock.now() - start) }
        let isIntact: Bool
        do throws(FileError) {
            isIntact = try isTruncated ? false : part.isIntact(length: record.claimed.last?.last ?? 0)
            if !isIntact, try part.isNamed() { foundTruncated(statement) }
        } catch { throw .other(DownloadError(error)) }
        guard isIntact else { throw .other(Self.damaged(.partDamaged, paths)) }
        record.unsyncedBoot = syncs ? nil : disk.fileSystem.bootID
        do throws(JournalError) { try journal.write(record) } catch { throw .journal(error) }
        wrote(record)
        return true
    }

    private static func damaged(_ key: ErrorPhrase.Key, _ paths: DownloadPaths) -> DownloadError {
        DownloadError(.disk, ErrorPhrase(key, "\(paths.part)"), suggestion: ErrorPhrase(.continueWithRest))
    }

    func retract(to statement: JournalStatement, _ disk: Disk) throws(DownloadError) {
        var record = next(statement)
        record.unsyncedBoot = syncs ? nil : disk.fileSystem.bootID
        do throws(JournalError) { try journal.retract(record) } catch { throw DownloadError(error) }
        wrote(record)
    }

    /// Records the object that the file becomes, and its upload.
    func note(_ upload: JournalRecord.Upload?, _ statement: JournalStatement, _ disk: Disk) throws(DownloadError) {
        var record = next(statement)
        record.upload = upload
        do throws(JournalError) { try journal.write(record) } catch { throw DownloadError(error) }
        wrote(record)
    }

    /// Records that the file does not match its digest. Returns whether the backup contained an earlier file that was
    /// refuted too and that this call has tried to remove; `false` if the journal could not be written.
    func refute(_ mismatch: JournalRecord.Mismatch, owner: BackupPair.Owner, _ disk: Disk) -> Bool {
        let record = state.withLock { state in
            state.record.mismatch = mismatch
            return state.record
        }
        do throws(JournalError) { try journal.write(record) } catch { return false }
        let backup = BackupPair(paths, fileSystem: disk.fileSystem, syncs: syncs)
        guard let earlier = try? backup.record(of: owner), earlier.mismatch != nil else { return false }
        try? backup.remove()
        return true
    }

    // MARK: The end

    /// Gives the part file its final name; the journal announces each name before it is tried.
    func publish(
        _ order: PublishOrder, _ statement: JournalStatement, _ disk: Disk
    ) throws(PublishError) -> Published {
        let part = part(disk)
        var record = next(statement)
        // Claimed before the sync: the publisher syncs before it announces.
        record.claimed = order.length > 0 ? [[0, order.length]] : []
        record.mismatch = nil
        record.unsyncedBoot = syncs ? nil : disk.fileSystem.bootID
        let isIntact: Bool
        do throws(FileError) {
            isIntact = try isTruncated ? false : part.isIntact(length: order.length)
            // Only if the file is longer, because some file systems cannot truncate at all.
            if isIntact, try part.length() > order.length { try part.truncate(to: order.length) }
        } catch { throw .file(error) }
        guard isIntact else { throw .notIntact(paths.part) }
        let publisher = Publisher(fileSystem: disk.fileSystem, syncs: syncs)
        return try publisher.publish(part, order) { publishing in
            var announced = record
            announced.publishing = publishing
            try journal.write(announced)
        }
    }

    /// Removes the remaining files of the published download: the backup, then the journal.
    func removeRest(of owner: BackupPair.Owner, _ disk: Disk) {
        let backup = BackupPair(paths, fileSystem: disk.fileSystem, syncs: syncs)
        if backup.removeRest(journal, of: owner, syncs: false) { index?.remove(paths.journal) }
    }

    /// Moves both files to the backup and closes them. If the backup of another download is there, only closes the files, which
    /// stay where they are, and returns ``Prepared/Backup/absent``.
    func setAside(
        _ reason: Reason, for owner: BackupPair.Owner, _ disk: Disk
    ) throws(DownloadError) -> Prepared.Backup? {
        let aside = BackupPair(paths, fileSystem: disk.fileSystem, syncs: syncs)
        do throws(FileError) {
            if try aside.isFree(for: owner) {
                try aside.move()
            } else {
                close(disk)
                return .absent
            }
        } catch { throw DownloadError(error) }
        index?.remove(paths.journal)
        let old = try? Journal.read(at: paths.oldJournal, fileSystem: disk.fileSystem)
        close(disk)
        return .own(paths, id: old?.id)
    }

    /// Removes both files. The journal is removed last: a part file without one would block its name permanently.
    func discard(_ disk: Disk) throws(DownloadError) {
        do throws(FileError) { try part(disk).remove() } catch { throw DownloadError(error) }
        do throws(JournalError) { try journal.remove() } catch { throw DownloadError(error) }
        index?.remove(paths.journal)
        close(disk)
    }

    func close(_ disk: Disk) {
        journal.close()
        part(disk).close()
    }
}

extension JournalRecord {
    /// The first record of a part file.
    fileprivate init(
        _ order: PartSession.Order, named name: String, _ part: PartFile, own: OwnFiles,
        _ environment: EngineEnvironment
    ) {
        let statement = order.statement
        self.init(
            id: own.id.rawValue, urls: [], name: name, totalBytes: statement.totalBytes, identity: statement.identity,
            partDevice: part.device, partInode: part.inode,
            createdAt: environment.clock.date().timeIntervalSince1970)
        partCreated = part.created?.pair
        if case .file = own.request.destination { isNameRequested = true }
        trust = own.request.trust
        root = own.request.root
        upload = order.upload
        events = order.events
        var proven = statement
        proven.isLinkUnproven = false
        take(proven)
    }
}
