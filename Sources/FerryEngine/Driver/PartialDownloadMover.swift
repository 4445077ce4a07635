package import FerryCore
import SystemPackage

/// Moves a part file and its journal to another directory: renamed, or copied and compared where that is another file
/// system.
///
///     take a name there; the journal here says where to; the bytes and a journal there; sync      ``move(_:of:to:)``
///     the caller writes down where it is now; the pair here goes                                  ``resolve(_:_:_:)``
///
/// Invariants: at every moment a whole pair is found from the journal here or, once the caller knows it, from the one
/// there; nothing is replaced; nothing here goes before all of it is durable there.
package struct PartialDownloadMover: Sendable {
    private let fileSystem: any FileSystem
    private let floor: ByteCount
    private let goesOn: @Sendable () -> Bool

    /// - Parameters:
    ///   - floor: The free bytes that must stay where it is copied to.
    ///   - goesOn: Asked now and then while bytes are copied; false gives it up, and nothing has changed.
    package init(
        fileSystem: any FileSystem, floor: ByteCount = 0, goesOn: @escaping @Sendable () -> Bool = { true }
    ) {
        self.fileSystem = fileSystem
        self.floor = floor
        self.goesOn = goesOn
    }

    /// Where a pair is now.
    package struct Moved: Sendable {
        package let paths: DownloadPaths
        package let record: JournalRecord

        package var part: String { paths.part.string }
        /// Of the finished file that it is to become.
        package var path: String { paths.final.string }
    }

    /// Moves what the download has beside `path`; `nil` when there is nothing of it. Blocks.
    ///
    /// When it throws, the pair is where it was.
    package func move(
        _ path: String, of id: DownloadID, to directory: String
    ) throws(DownloadError) -> Moved? {
        guard var old = DownloadPaths(of: FilePath(path).lexicallyNormalized()) else { return nil }
        guard var (journal, record) = try open(old, id) else { return nil }
        defer { journal.close() }
        if let there = try resolved(old, &record, journal) {
            // An earlier move was cut when all was there.
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
            // What was begun there goes, unless the bytes were renamed: then they are there.
            if (try? place.isNamed()) == true { try? place.remove() }
            place.close()
            if let there = try resolved(old, &record, journal) { return try found(there) }
            throw error
        }
    }

    /// The pair of a journal that says it was on its way: where it is when all of it is there, else `nil`, and it is
    /// still here. What is left of it at the other place goes, and the journal here with it or without that word. Blocks.
    ///
    /// The path alone proves nothing: any file may have it. Only beside a journal of ours with the same id is anything taken
    /// for the pair, or removed.
    package func resolve(
        _ old: DownloadPaths, _ record: inout JournalRecord, _ journal: Journal
    ) throws(JournalError) -> DownloadPaths? {
        guard let moving = record.moving, let new = DownloadPaths(of: FilePath(moving.part)) else { return nil }
        if new == old {
            // What a cut move left, opened by its own name: it claims nothing.
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
            // Neither is the pair: to forget where it went would be to lose it.
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

    /// Lets what a move has left at an earlier place go, when all of it is where it was moved to. Blocks.
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

    /// The part file first: a journal alone says what it was of, and is let go by whoever finds it.
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

    /// What the journal there says; `nil` when there is none that is whole, ours, and this download's.
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

    /// What was announced and has its name by now is no pair any more.
    private func checkUnpublished(_ record: inout JournalRecord, _ old: DownloadPaths) throws(DownloadError) {
        guard let publishing = record.publishing else { return }
        let publisher = Publisher(fileSystem: fileSystem, syncs: true, numbered: SafeName.numbered)
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
        let taker = NameTaker(fileSystem: fileSystem, numbered: SafeName.numbered)
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
                    for directory in [new.directory, old.directory] { try sync(directory) }
                    return there
                } catch {
                    // One file system, mounted at two places.
                    guard error.kind == .crossDevice else { throw error }
                    try own.remove()
                }
            }
            record.moving = .init(part: new.part.string, device: place.device, inode: place.inode)
            try journal.write(record)
            // Before the bytes, so that what a crash leaves of them has a journal beside it.
            var empty = record
            empty.claimed = []
            let (_, own) = try create(empty, at: new, from: nil, device: place.device)
            defer { own.close() }
            try copy(part, to: place, record)
            let there = moved(record, to: new, from: old, device: place.device)
            try own.write(there)
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

    /// The claimed bytes alone: nobody believes the others.
    private func copy(_ part: PartFile, to place: PartFile, _ record: JournalRecord) throws {
        let ranges = (RangeSet<ByteCount>(pairs: record.claimed) ?? RangeSet()).ranges
        let length = try part.length()
        let needed = record.totalBytes ?? length
        if case .short = try DirectorySpace(place.path.removingLastComponent(), floor: floor, fileSystem: fileSystem)
            .check(needed: needed)
        {
            throw FileError(.allocate, place.path, kind: .noSpace)
        }
        if try length == 0 || !place.preallocate(total: length) { try place.truncate(to: length) }
        let copy = FileCopy(from: part.file, to: place.file, goesOn: goesOn)
        switch try copy.copy(Array(ranges)) {
        case .copied: break
        case .differs: throw DownloadError(.disk, ErrorPhrase(.copyDiffers, place.path.string))
        case .stopped: throw DownloadError(.shutDown, ErrorPhrase(.moveStopped, record.name))
        }
    }

    /// The journal there; the part file need not be there yet.
    private func create(
        _ record: JournalRecord, at new: DownloadPaths, from old: DownloadPaths?, device: UInt64
    ) throws(JournalError) -> (JournalRecord, Journal) {
        let there = moved(record, to: new, from: old, device: device)
        return (there, try Journal.create(at: new.journal, record: there, fileSystem: fileSystem, syncs: true))
    }

    /// What the journal there is to say; without `old` that it is on its way there itself: the bytes are not whole yet.
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

    /// Removes what a cut move has left there beside a journal of this download: the bytes that it was to have, or the
    /// empty file that had taken the name.
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

    /// The generation before comes along where that costs nothing; else it stays where it is.
    private func bringAside(of record: JournalRecord, from old: DownloadPaths, to new: DownloadPaths) {
        let aside = BackupPair(old, fileSystem: fileSystem, syncs: false)
        guard (try? aside.record(of: .init(record))) != nil else { return }
        for (from, to) in [(old.oldPart, new.oldPart), (old.oldJournal, new.oldJournal)] {
            try? fileSystem.rename(from, to: to, replacing: false)
        }
    }

    private func sync(_ directory: FilePath) throws(FileError) {
        do throws(FileError) { try fileSystem.syncDirectory(directory) } catch {
            guard error.kind == .unsupported else { throw error }
        }
    }
}

extension EngineEnvironment {
    /// Tells the directories that were read of a pair that was moved.
    package func note(_ moved: PartialDownloadMover.Moved, from path: String) {
        if let old = DownloadPaths(of: FilePath(path).lexicallyNormalized()) {
            knownJournals(in: old.directory)?.remove(old.journal)
        }
        knownJournals(in: moved.paths.directory)?.add(moved.paths.journal, moved.record)
    }
}
