package import FerryCore
import SystemPackage

extension PartFiles {
    /// A part file and what its journal says.
    package struct Found: Sendable {
        /// The path of the part file.
        package let part: String
        /// The directory that it lies in.
        package let directory: String
        package let record: JournalRecord
        /// The length of the part file.
        package let length: ByteCount

        /// The bytes that the journal claims, and that the part file has: what is claimed beyond its end is not there.
        package var claimedBytes: ByteCount {
            let claims = RangeSet<ByteCount>(pairs: record.claimed) ?? RangeSet()
            return claims.intersection(RangeSet(0..<length)).byteCount
        }
    }

    /// What the journal beside `path` says: the path of a part file, of a journal, or of the finished file. Blocks.
    ///
    /// Throws what is wrong with the journal; `notResumable` when there is none, or no part file.
    package static func find(
        at path: String, fileSystem: any FileSystem = LocalFileSystem()
    ) throws(DownloadError) -> Found {
        guard let paths = DownloadPaths(of: FilePath(path).lexicallyNormalized()) else {
            throw DownloadError(.notResumable, ErrorPhrase(.notAPartFile, path))
        }
        let record: JournalRecord
        do throws(JournalError) { record = try Journal.read(at: paths.journal, fileSystem: fileSystem) } catch {
            if case .missing = error { throw DownloadError(.notResumable, ErrorPhrase(.missing, "\(paths.journal)")) }
            throw DownloadError(error)
        }
        guard let status = try? fileSystem.statusIfPresent(paths.part) else {
            throw DownloadError(.notResumable, ErrorPhrase(.partGone, "\(paths.part)"))
        }
        if let flaw = fileSystem.flaw(of: status, at: paths.part) {
            throw DownloadError(FileError(.open, paths.part, kind: .notOurs(flaw)))
        }
        return Found(
            part: paths.part.string, directory: paths.directory.string, record: record, length: status.length)
    }

    /// Says in a journal that its download was taken off its list with resume data. Blocks.
    package static func setTaken(
        _ path: String, by id: DownloadID, syncs: Bool, fileSystem: any FileSystem = LocalFileSystem()
    ) {
        change(path, by: id, syncs: syncs, fileSystem: fileSystem) { $0.isTaken = true }
    }

    /// Says in a journal that its download is listed. What it announced before that, a publication or a move, is nobody's
    /// word for what the list asks for, and goes. Blocks.
    package static func enlist(
        _ path: String, by id: DownloadID, syncs: Bool, fileSystem: any FileSystem = LocalFileSystem()
    ) {
        change(path, by: id, syncs: syncs, fileSystem: fileSystem) { record in
            (record.isTaken, record.publishing, record.moving, record.movedFrom) = (nil, nil, nil, nil)
        }
    }

    /// What cannot be written stays as it is.
    private static func change(
        _ path: String, by id: DownloadID, syncs: Bool, fileSystem: any FileSystem,
        _ change: (inout JournalRecord) -> Void
    ) {
        guard let paths = DownloadPaths(of: FilePath(path).lexicallyNormalized()),
            let opened = try? Journal.open(at: paths.journal, fileSystem: fileSystem, syncs: syncs)
        else { return }
        defer { opened.journal.close() }
        var record = opened.record
        change(&record)
        guard record.id == id.rawValue, record != opened.record else { return }
        try? opened.journal.write(record)
    }

    /// What `pick` takes of all that can be read in a directory, sorted by path; nothing when it is not there. Blocks.
    ///
    /// One journal is in memory at a time: there may be 100,000 of them.
    package static func all<Value>(
        in directory: String, fileSystem: any FileSystem = LocalFileSystem(), _ pick: (Found) -> Value?
    ) -> [Value] {
        ((try? list(in: directory, fileSystem: fileSystem).own) ?? []).compactMap { path in
            (try? find(at: path, fileSystem: fileSystem)).flatMap(pick)
        }
    }

    /// Whether there is room to go on with a part file at `path`, which need not be there. What cannot be known is taken
    /// for room. Blocks.
    ///
    /// - Parameters:
    ///   - directory: Where it lies, or will.
    ///   - missing: The bytes that are not held yet; `nil` when that is unknown.
    ///   - floor: The free bytes that must stay.
    package static func hasRoom(
        at path: String?, in directory: String, missing: ByteCount?, total: ByteCount?, floor: ByteCount,
        fileSystem: any FileSystem = LocalFileSystem()
    ) -> Bool {
        var needed = missing ?? 0
        if let path, let total, let part = DownloadPaths(of: FilePath(path))?.part,
            let status = try? fileSystem.statusIfPresent(part), status.length >= total
        {
            // Its space is reserved.
            needed = 0
        }
        let space = DirectorySpace(FilePath(directory), floor: floor, fileSystem: fileSystem)
        // One more, so that a floor of nothing asks for something.
        return (try? space.check(needed: needed.adding(1))).map { $0 == .enough } ?? true
    }

    /// Whether two paths lead to one directory. Blocks.
    package static func isSameDirectory(
        _ one: String, _ other: String, fileSystem: any FileSystem = LocalFileSystem()
    ) -> Bool {
        guard let first = try? fileSystem.status(FilePath(one), followingLinks: true),
            let second = try? fileSystem.status(FilePath(other), followingLinks: true)
        else { return false }
        return first.kind == .directory && first.isSameFile(as: second)
    }

    /// How far a download is by its journal; `nil` when the journal there is not its own. Blocks.
    package static func held(
        at path: String, by id: DownloadID, fileSystem: any FileSystem = LocalFileSystem()
    ) -> (completedBytes: ByteCount, totalBytes: ByteCount?)? {
        guard let found = try? find(at: path, fileSystem: fileSystem), found.record.id == id.rawValue else {
            return nil
        }
        return (found.claimedBytes, found.record.totalBytes)
    }
}

extension PartFiles {
    /// Removes the journal, and what was put aside, of a download whose part file has its final name. Blocks.
    package static func finish(
        at part: String, by id: DownloadID, fileSystem: any FileSystem = LocalFileSystem()
    ) {
        guard let paths = DownloadPaths(of: FilePath(part)), (try? fileSystem.exists(paths.part)) == false,
            let opened = try? Journal.open(at: paths.journal, fileSystem: fileSystem, syncs: false)
        else { return }
        guard opened.record.id == id.rawValue, opened.record.publishing != nil else { return opened.journal.close() }
        // The journal last: as long as it is there, the rest is found.
        do throws(FileError) {
            try BackupPair(paths, fileSystem: fileSystem, syncs: false).remove(of: .init(opened.record))
        } catch {
            return opened.journal.close()
        }
        try? opened.journal.remove()
    }
}

extension PublishedFile {
    /// Deletes a published file, when it is still the same and ours; without `file`, nothing. What is not there is no error.
    ///
    /// Throws `conflict` when something else has the path now, `disk` when it cannot be deleted. Blocks.
    package static func delete(
        _ path: String, ifUnchangedSince file: PublishedFile?, fileSystem: any FileSystem = LocalFileSystem()
    ) throws(DownloadError) {
        guard let now = try read(path, fileSystem: fileSystem) else { return }
        guard let file, now == file, file.isUnchanged(fileSystem: fileSystem) else {
            throw DownloadError(
                .conflict, ErrorPhrase(.otherThanDownloaded, path),
                recovery: .needsUser)
        }
        // allow(ours): it is what the list has published, unchanged.
        do throws(FileError) { try fileSystem.unlink(FilePath(path)) } catch { throw DownloadError(error) }
    }
}
