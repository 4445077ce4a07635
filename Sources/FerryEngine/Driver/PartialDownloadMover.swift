package import FerryCore
import SystemPackage

/// Moves a part file and its journal to another directory by renaming, or across file systems by copying and comparing.
///
///     reserve the name; announce it in the old journal; move bytes; write the journal; sync     ``move(_:of:to:)``
///     the caller records the new path; the old pair is removed                                  ``resolve(_:_:_:)``
///
/// Invariants: at every moment a complete pair can be found through the old journal or, once the caller knows it, through the
/// new one; nothing is replaced; no old file is removed before all of its content is durable at the new path.
package struct PartialDownloadMover: Sendable {
    private let fileSystem: any FileSystem
    private let reserve: ByteCount?
    private let continues: @Sendable () -> Bool

    /// - Parameters:
    ///   - reserve: The number of free bytes that must remain in the target directory; `nil` as in ``DirectorySpace``.
    ///   - continues: Called repeatedly during a copy; `false` aborts the move without any change.
    package init(
        fileSystem: any FileSystem, reserve: ByteCount? = 0, continues: @escaping @Sendable () -> Bool = { true }
    ) {
        self.fileSystem = fileSystem
        self.reserve = reserve
        self.continues = continues
    }

    /// The result of a move.
    package struct Moved: Sendable {
        package let paths: DownloadPaths
        package let record: JournalRecord

        package var part: String { paths.part.string }
        /// The path of the future finished file.
        package var path: String { paths.final.string }
    }

    /// Moves the part file and journal beside `path`; returns `nil` if this download has none there. Blocks.
    ///
    /// If it throws, the pair is still at its old path.
    package func move(
        _ path: String, of id: DownloadID, to directory: String
    ) throws(DownloadError) -> Moved? {
        guard var old = DownloadPaths(of: FilePath(path).lexicallyNormalized()) else { return nil }
        guard var (journal, record) = try open(old, id) else { return nil }
        defer { journal.close() }
        if let there = try resolved(old, &record, journal) {
            // An earlier move was interrupted after everything had arrived.
            old = there
            guard let next = try open(old, id) else { return nil }
            (journal, record) = next
        }
        let part: PartFile
        do throws(PartFileError) { part = try PartFile.open(old.part, fileSystem: fileSystem) } catch {
            if case .missing = error { return nil }
            throw DownloadError(error)
        }
        defer { part.close() }
        try checkUnpublished(&record, old)
        let (place, new) = try take(record.name, in: FilePath(directory).lexicallyNormalized())
        defer { place.close() }
        do throws(DownloadError) {
            let moved = try transfer(part, old, place, new, &record, journal)
            bringAside(of: record, from: old, to: new)
            return Moved(paths: new, record: moved)
        } catch {
            // Remove the reserved files there, unless the part file itself was already renamed.
            if (try? place.isNamed()) == true { try? place.remove() }
            place.close()
            if let there = try resolved(old, &record, journal) { return try found(there) }
            throw error
        }
    }

    /// Resolves an interrupted move. Returns the new paths if the pair is complete there, otherwise `nil`. Removes the remaining
    /// files at the other path, together with the old journal or its `moving` entry. Blocks.
    ///
    /// A path is not a proof: files count as the pair, or are removed, only if the journal beside them passes the ownership
    /// check and has the same id.
    package func resolve(
        _ old: DownloadPaths, _ record: inout JournalRecord, _ journal: Journal
    ) throws(JournalError) -> DownloadPaths? {
        guard let moving = record.moving, let new = DownloadPaths(of: FilePath(moving.part)) else { return nil }
        if new == old {
            // The target of an interrupted move was opened directly, and its journal claims nothing.
            record.moving = nil
            return nil
        }
        let there = try readRecord(at: new, of: record.id)
        do throws(FileError) {
            let bytes = try fileSystem.ours(at: new.part)
            let isThere = bytes?.inode == moving.inode && bytes?.device == moving.device ?? there?.partDevice
            let isHere = try fileSystem.ours(at: old.part)?.inode == record.partInode
            if isThere, let there, there.partInode == moving.inode, there.moving?.part != moving.part {
                leave(old, record, journal)
                return new
            }
            // The pair is at neither path; dropping the target path would lose it permanently.
            let isOccupied = try fileSystem.exists(old.part)
            if !isOccupied {
                throw FileError(.rename, old.part, kind: .lostOnTheWay(to: new.part))
            }
            if isHere, let there { try drop(bytes, at: new, moving, there) }
        } catch {
            throw .file(error)
        }
        record.moving = nil
        try journal.write(record)
        return nil
    }

    /// Removes the files of a move at an earlier path, if the pair is complete at the new one. Blocks.
    package func forget(_ earlier: String, of id: String) {
        guard let old = DownloadPaths(of: FilePath(earlier)),
            let opened = try? Journal.open(at: old.journal, fileSystem: fileSystem, syncs: true)
        else { return }
        defer { opened.journal.close() }
        let record = opened.record
        guard record.id == id, let moving = record.moving, let new = DownloadPaths(of: FilePath(moving.part)),
            let there = try? Journal.read(at: new.journal, fileSystem: fileSystem), there.id == id,
            there.partInode == moving.inode, there.moving?.part != moving.part,
            let bytes = try? fileSystem.ours(at: new.part), bytes.inode == moving.inode,
            bytes.device == moving.device ?? there.partDevice
        else { return }
        leave(old, record, opened.journal)
    }

    /// Removes the old part file, then its journal: a journal without a part file is recognized and removed by later
    /// runs.
    private func leave(_ old: DownloadPaths, _ record: JournalRecord, _ journal: Journal) {
        if let part = try? PartFile.open(old.part, fileSystem: fileSystem) {
            defer { part.close() }
            guard part.inode == record.partInode, part.inode != record.moving?.inode, (try? part.remove()) != nil else {
                return
            }
        } else if (try? fileSystem.exists(old.part)) != false {
            return
        }
        try? journal.remove()
    }

    /// Returns the record of the journal at `paths`; `nil` if no intact journal of this user and download exists
    /// there.
    private func readRecord(at paths: DownloadPaths, of id: String) throws(JournalError) -> JournalRecord? {
        do throws(JournalError) {
            let record = try Journal.read(at: paths.journal, fileSystem: fileSystem)
            return record.id == id ? record : nil
        } catch {
            if case .file = error, error.flaw == nil { throw error }
            return nil
        }
    }

    // MARK: Steps

    private func open(_ paths: DownloadPaths, _ id: DownloadID) throws(DownloadError) -> (Journal, JournalRecord)? {
        do throws(JournalError) {
            let (journal, record) = try Journal.open(at: paths.journal, fileSystem: fileSystem, syncs: true)
            if record.id == id.rawValue { return (journal, record) }
            journal.close()
            return nil
        } catch {
            if case .missing = error { return nil }
            throw DownloadError(error)
        }
    }

    private func resolved(
        _ old: DownloadPaths, _ record: inout JournalRecord, _ journal: Journal
    ) throws(DownloadError) -> DownloadPaths? {
        do throws(JournalError) { return try resolve(old, &record, journal) } catch { throw DownloadError(error) }
    }

    private func found(_ paths: DownloadPaths) throws(DownloadError) -> Moved {
        do throws(JournalError) {
            return Moved(paths: paths, record: try Journal.read(at: paths.journal, fileSystem: fileSystem))
        } catch { throw DownloadError(error) }
    }

    /// Throws if the announced publication has already taken place, because no pair is left to move.
    private func checkUnpublished(_ record: inout JournalRecord, _ old: DownloadPaths) throws(DownloadError) {
        guard let publishing = record.publishing else { return }
        let publisher = Publisher(fileSystem: fileSystem, syncs: true)
        do throws(FileError) {
            guard case .again = try publisher.recover(publishing, part: old.part) else {
                throw FileError(.rename, old.part, kind: .notFound)
            }
        } catch { throw DownloadError(error) }
        record.publishing = nil
    }

    private func take(_ name: String, in directory: FilePath) throws(DownloadError) -> (PartFile, DownloadPaths) {
        do throws(FileError) {
            if try fileSystem.statusIfPresent(directory) == nil {
                try fileSystem.makeDirectories(directory, syncs: true)
            }
        } catch { throw DownloadError(error) }
        guard fileSystem.isWritable(directory) else {
            throw DownloadError(.disk, ErrorPhrase(.directoryReadOnly, "\(directory)"), recovery: .needsUser)
        }
        let taker = NameTaker(fileSystem: fileSystem)
        do throws(PartFileError) {
            switch try taker.take(name, in: directory, rule: .rename) {
            case .taken(let place, let paths, _): return (place, paths)
            case .exists(let path), .blocked(let path), .noFreeName(let path):
                throw PartFileError.exists(path)
            }
        } catch { throw DownloadError(error) }
    }

    private func transfer(
        _ part: PartFile, _ old: DownloadPaths, _ place: PartFile, _ new: DownloadPaths,
        _ record: inout JournalRecord, _ journal: Journal
    ) throws(DownloadError) -> JournalRecord {
        do {
            if place.device == part.device {
                record.moving = .init(part: new.part.string, device: part.device, inode: part.inode)
                try journal.write(record)
                let (there, own) = try create(record, at: new, from: old, device: part.device)
                defer { own.close() }
                do throws(FileError) {
                    try fileSystem.rename(old.part, to: new.part, replacing: true)
                    for directory in [new.directory, old.directory] {
                        try fileSystem.syncDirectoryIfSupported(directory)
                    }
                    return there
                } catch {
                    // The same file system, mounted twice.
                    guard error.kind == .crossDevice else { throw error }
                    try own.remove()
                }
            }
            record.moving = .init(part: new.part.string, device: place.device, inode: place.inode)
            try journal.write(record)
            // The journal is written before the bytes, so that a crash leaves no bytes without a journal.
            var empty = record
            empty.claimed = []
            let (_, own) = try create(empty, at: new, from: nil, device: place.device)
            defer { own.close() }
            try copy(part, to: place, record)
            let there = moved(record, to: new, from: old, device: place.device)
            try own.write(there)
            // The originals are removed next, and they are on a volume whose writes are not ordered with those here. This
            // sync also flushes the journal.
            try place.file.sync()
            return there
        } catch let error as FileError {
            throw DownloadError(error)
        } catch let error as JournalError {
            throw DownloadError(error)
        } catch let error as DownloadError {
            throw error
        } catch {
            throw DownloadError(.internal, "the files cannot be moved", underlying: "\(error)")
        }
    }

    /// Copies only the claimed ranges, because no other bytes are trusted.
    private func copy(_ part: PartFile, to place: PartFile, _ record: JournalRecord) throws {
        let ranges = (RangeSet<ByteCount>(pairs: record.claimed) ?? RangeSet()).ranges
        let length = try part.length()
        let needed = record.totalBytes ?? length
        try DirectorySpace(place.path.removingLastComponent(), reserve: reserve, fileSystem: fileSystem).require(needed)
        if try length == 0 || !place.preallocate(total: length) { try place.truncate(to: length) }
        let copy = FileCopy(from: part.file, to: place.file, continues: continues)
        switch try copy.copy(Array(ranges)) {
        case .copied: break
        case .differs: throw DownloadError(.disk, ErrorPhrase(.copyDiffers, place.path.string))
        case .stopped: throw DownloadError(.shutDown, ErrorPhrase(.moveStopped, record.name))
        }
    }

    /// Creates the journal at the new path; its part file need not exist yet.
    private func create(
        _ record: JournalRecord, at new: DownloadPaths, from old: DownloadPaths?, device: UInt64
    ) throws(JournalError) -> (JournalRecord, Journal) {
        let there = moved(record, to: new, from: old, device: device)
        return (there, try Journal.create(at: new.journal, record: there, fileSystem: fileSystem, syncs: true))
    }

    /// Returns the record for the new journal. Without `old` it records that the move is in progress and the bytes are
    /// incomplete.
    private func moved(
        _ record: JournalRecord, to new: DownloadPaths, from old: DownloadPaths?, device: UInt64
    ) -> JournalRecord {
        var there = record
        there.name = new.name
        there.partDevice = device
        there.partInode = record.moving?.inode ?? record.partInode
        if there.partInode != record.partInode || device != record.partDevice { there.partCreated = nil }
        there.moving = old == nil ? record.moving : nil
        there.movedFrom = old?.part.string
        return there
    }

    /// Removes the files of an interrupted move at the new path if the journal there belongs to this download: the announced
    /// part file, or the empty file that reserved the name.
    private func drop(
        _ bytes: FileStatus?, at new: DownloadPaths, _ moving: JournalRecord.Moving, _ there: JournalRecord
    ) throws(FileError) {
        if let bytes {
            guard let part = try? PartFile.open(new.part, fileSystem: fileSystem) else { return }
            defer { part.close() }
            let isIts = part.inode == moving.inode && part.device == moving.device ?? there.partDevice
            guard part.inode == bytes.inode else { return }
            let isEmpty = try part.length() == 0
            guard isIts || isEmpty else { return }
            try part.remove()
        }
        let opened: (journal: Journal, record: JournalRecord)
        do throws(JournalError) {
            opened = try Journal.open(at: new.journal, fileSystem: fileSystem, syncs: true)
        } catch {
            return
        }
        defer { opened.journal.close() }
        if opened.record.id == there.id { try? opened.journal.remove() }
    }

    /// Renames the backup together with the pair; across file systems the backup stays.
    private func bringAside(of record: JournalRecord, from old: DownloadPaths, to new: DownloadPaths) {
        let aside = BackupPair(old, fileSystem: fileSystem, syncs: false)
        guard (try? aside.record(of: .init(record))) != nil else { return }
        for (from, to) in [(old.oldPart, new.oldPart), (old.oldJournal, new.oldJournal)] {
            try? fileSystem.rename(from, to: to, replacing: false)
        }
    }
}

extension EngineEnvironment {
    /// Updates the cached journal indexes after a move.
    package func note(_ moved: PartialDownloadMover.Moved, from path: String) {
        if let old = DownloadPaths(of: FilePath(path).lexicallyNormalized()) {
            knownJournals(in: old.directory)?.remove(old.journal)
        }
        knownJournals(in: moved.paths.directory)?.add(moved.paths.journal, moved.record)
    }
}
