package import FerryCore
package import SystemPackage

/// Part files in directories, examined without a running download.
package enum PartFiles {
    /// Returns the part files with a journal that passes the ownership check, sorted by path; the error of each other journal;
    /// and a message for each partial file of another program.
    package static func list(
        in directory: String, fileSystem: any FileSystem
    ) throws(DownloadError) -> (own: [String], refused: [DownloadError], halves: [ErrorPhrase]) {
        do throws(FileError) {
            let folder = FilePath(directory).lexicallyNormalized()
            var (own, refused, halves): ([String], [DownloadError], [ErrorPhrase]) = ([], [], [])
            let names = try fileSystem.list(folder).sorted()
            for name in names where HalfFile.suffixes.contains(where: { name.utf8.hasSuffix($0) }) {
                let path = folder.appending(name).string
                // A crash before the first journal leaves an empty part file.
                let journal = DownloadPaths(of: FilePath(path))?.journal
                guard try journal.map({ path throws(FileError) in try !fileSystem.exists(path) }) ?? true,
                    let status = try fileSystem.statusIfPresent(FilePath(path)), status.length > 0
                else { continue }
                halves.append(ErrorPhrase(.foreignHalf, path, ShellWord.quote(path)))
            }
            for name in names where name.utf8.hasSuffix(DownloadPaths.journalSuffix) {
                let journal = folder.appending(name)
                if let flaw = try fileSystem.flaw(at: journal) {
                    refused.append(DownloadError(FileError(.open, journal, kind: .notOurs(flaw))))
                } else if let part = DownloadPaths(of: journal)?.part {
                    own.append(part.string)
                }
            }
            return (own, refused, halves)
        } catch { throw DownloadError(error) }
    }

    /// Throws if a destination is not writable, before any byte is fetched.
    ///
    /// A missing directory is not an error if its nearest existing ancestor is writable.
    package static func checkWritable(
        _ destination: DownloadRequest.Destination, fileSystem: any FileSystem
    ) throws(DownloadError) {
        let destination = try destination.resolved()
        var folder: FilePath
        switch destination {
        case .stream: return
        case .directory(let path, _): folder = FilePath(path).lexicallyNormalized()
        case .file(let path), .part(let path): folder = FilePath(path).lexicallyNormalized().removingLastComponent()
        }
        do throws(FileError) {
            if case .file(let path) = destination,
                try fileSystem.statusIfPresent(FilePath(path).lexicallyNormalized())?.kind == .directory
            {
                throw FileError(.create, FilePath(path), kind: .isDirectory)
            }
            while true {
                let status: FileStatus?
                do throws(FileError) { status = try fileSystem.status(folder, followingLinks: true) } catch {
                    if error.kind != .notFound { throw error }
                    status = nil
                }
                if let status {
                    guard status.kind == .directory else { throw FileError(.create, folder, kind: .notDirectory) }
                    break
                }
                guard folder.removeLastComponent() else { break }
            }
        } catch { throw DownloadError(error) }
        guard fileSystem.isWritable(folder) else {
            throw DownloadError(.disk, ErrorPhrase(.directoryReadOnly, "\(folder)"))
        }
    }
}

extension DownloadDriver {
    /// Deletes the files of a download that is not running, if its journal names the download.
    package static func discard(path: String, id: DownloadID, fileSystem: any FileSystem) {
        guard let paths = DownloadPaths(of: FilePath(path)),
            let opened = try? Journal.open(at: paths.journal, fileSystem: fileSystem, syncs: false)
        else { return }
        var record = opened.record
        if record.id == id.rawValue, record.moving != nil,
            let there = try? PartialDownloadMover(fileSystem: fileSystem).resolve(paths, &record, opened.journal)
        {
            opened.journal.close()
            return discard(path: there.part.string, id: id, fileSystem: fileSystem)
        }
        guard opened.record.id == id.rawValue else { return opened.journal.close() }
        guard let part = try? PartFile.open(paths.part, fileSystem: fileSystem) else {
            // Without its part file a journal has no use, unless the file is being published.
            let isGone = (try? fileSystem.statusIfPresent(paths.part) == nil) ?? false
            guard isGone, opened.record.publishing == nil else { return opened.journal.close() }
            try? opened.journal.remove()
            return
        }
        try? BackupPair(paths, fileSystem: fileSystem, syncs: false).remove(of: .init(opened.record))
        try? part.remove()
        try? opened.journal.remove()
    }
}

extension PartFiles {
    /// A part file and the record of its journal.
    package struct Found: Sendable {
        /// The path of the part file.
        package let part: String
        /// The part file's directory.
        package let directory: String
        package let record: JournalRecord
        /// The length of the part file.
        package let length: ByteCount
        /// The file under the final name, if it is the one that the finished file replaces according to the journal.
        package let replaces: PublishedFile?

        /// The number of bytes that the journal claims, within the length of the part file.
        package var claimedBytes: ByteCount {
            let claims = RangeSet<ByteCount>(pairs: record.claimed) ?? RangeSet()
            return claims.intersection(RangeSet(0..<length)).byteCount
        }
    }

    /// Finds the part file and journal that belong to `path`: a part file, a journal, or the finished file. Blocks.
    ///
    /// Throws the journal's error, or `notResumable` if the journal or the part file is missing.
    package static func find(
        at path: String, fileSystem: any FileSystem
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
            part: paths.part.string, directory: paths.directory.string, record: record, length: status.length,
            replaces: record.replaces.flatMap {
                PublishedFile($0, at: paths.directory.appending(record.name), fileSystem: fileSystem)
            })
    }

    /// Records in a journal that its download was removed from the list with resume data, and the download's attributes in the
    /// list. Under the rule `overwrite`, also records the file that the finished one would replace. Blocks.
    package static func setTaken(
        _ path: String, by id: DownloadID, _ tags: JournalTags, syncs: Bool, fileSystem: any FileSystem
    ) {
        change(path, by: id, syncs: syncs, fileSystem: fileSystem) { record in
            record.isTaken = true
            record.take(tags)
            guard tags.rules?.onConflict == .overwrite, let paths = DownloadPaths(of: FilePath(path)) else { return }
            let final = paths.directory.appending(record.name).string
            record.replaces = (try? PublishedFile.read(final, fileSystem: fileSystem)).map(JournalRecord.Replaced.init)
        }
    }

    /// Records in a journal that its download is listed. Drops an earlier publication or move, which is not part of the
    /// listed request. Blocks.
    package static func enlist(
        _ path: String, by id: DownloadID, syncs: Bool, fileSystem: any FileSystem
    ) {
        change(path, by: id, syncs: syncs, fileSystem: fileSystem) { record in
            (record.isTaken, record.publishing, record.moving, record.movedFrom) = (nil, nil, nil, nil)
        }
    }

    /// Rewrites the record of the download's own journal; ignores failures.
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

    /// Applies `pick` to each readable part file in a directory, sorted by path; returns nothing for a missing
    /// directory. Blocks.
    ///
    /// Reads one journal at a time, because there may be 100,000 of them.
    package static func all<Value>(
        in directory: String, fileSystem: any FileSystem, _ pick: (Found) -> Value?
    ) -> [Value] {
        ((try? list(in: directory, fileSystem: fileSystem).own) ?? []).compactMap { path in
            (try? find(at: path, fileSystem: fileSystem)).flatMap(pick)
        }
    }

    /// Returns `diskFull` if there is not enough space to resume the part file at `path`, which need not exist. Returns `nil` if
    /// there is enough, or if the free space cannot be determined. Blocks.
    ///
    /// - Parameters:
    ///   - directory: The current or future directory of the part file.
    ///   - missing: The number of missing bytes; `nil` if unknown.
    ///   - reserve: The number of free bytes that must remain; `nil` as in ``DirectorySpace``.
    package static func shortage(
        at path: String?, in directory: String, missing: ByteCount?, total: ByteCount?, reserve: ByteCount?,
        fileSystem: any FileSystem
    ) -> DownloadError? {
        var needed = missing
        if let path, let total, let part = DownloadPaths(of: FilePath(path))?.part,
            let status = try? fileSystem.statusIfPresent(part), status.length >= total
        {
            // The space is already reserved.
            needed = 0
        }
        let space = DirectorySpace(FilePath(directory), reserve: reserve, fileSystem: fileSystem)
        // One more byte, so that the space is checked even with a reserve of zero.
        guard case .short(var shortage)? = try? space.check(needed: (needed ?? 0).adding(1)) else { return nil }
        shortage.isLeast = needed == nil
        return DownloadError(shortage)
    }

    /// Returns whether two paths lead to the same directory. Blocks.
    package static func isSameDirectory(
        _ one: String, _ other: String, fileSystem: any FileSystem
    ) -> Bool {
        guard let first = try? fileSystem.status(FilePath(one), followingLinks: true),
            let second = try? fileSystem.status(FilePath(other), followingLinks: true)
        else { return false }
        return first.kind == .directory && first.isSameFile(as: second)
    }

    /// Returns a download's progress according to its journal; `nil` if the journal belongs to another download. Blocks.
    package static func held(
        at path: String, by id: DownloadID, fileSystem: any FileSystem
    ) -> (completedBytes: ByteCount, totalBytes: ByteCount?)? {
        guard let found = try? find(at: path, fileSystem: fileSystem), found.record.id == id.rawValue else {
            return nil
        }
        return (found.claimedBytes, found.record.totalBytes)
    }
}

extension PartFiles {
    /// Removes the journal and the backup of a published download. Blocks.
    package static func finish(
        at part: String, by id: DownloadID, fileSystem: any FileSystem
    ) {
        guard let paths = DownloadPaths(of: FilePath(part)), (try? fileSystem.exists(paths.part)) == false,
            let opened = try? Journal.open(at: paths.journal, fileSystem: fileSystem, syncs: false)
        else { return }
        guard opened.record.id == id.rawValue, opened.record.publishing != nil else { return opened.journal.close() }
        // The journal is removed last, because the backup is found through it.
        do throws(FileError) {
            try BackupPair(paths, fileSystem: fileSystem, syncs: false).remove(of: .init(opened.record))
        } catch {
            return opened.journal.close()
        }
        try? opened.journal.remove()
    }
}

extension PartFiles {
    /// The files of a download that may have ended early: a part file, its journal, or both.
    package struct Remains: Sendable {
        package let paths: DownloadPaths
        /// The record of the journal; `nil` for a part file that a crash has left before its first journal.
        package let record: JournalRecord?
    }

    /// Returns the part files and journals in a directory that pass the ownership check. A part file without a journal is
    /// recognized by its mode. Blocks.
    package static func remains(in directory: FilePath, fileSystem: any FileSystem) -> [Remains] {
        let names = (try? fileSystem.list(directory)) ?? []
        return names.compactMap { name in
            guard [DownloadPaths.journalSuffix, DownloadPaths.partSuffix].contains(where: { name.utf8.hasSuffix($0) })
            else {
                return nil
            }
            let path = directory.appending(name)
            guard let paths = DownloadPaths(of: path) else { return nil }
            if path == paths.journal {
                guard let record = try? Journal.read(at: path, fileSystem: fileSystem) else { return nil }
                // The name may be shortened in the path.
                guard let whole = DownloadPaths(directory: directory, name: record.name), whole.journal == path else {
                    return nil
                }
                return Remains(paths: whole, record: record)
            }
            guard path == paths.part, (try? fileSystem.exists(paths.journal)) == false,
                let status = try? fileSystem.ours(at: path, for: .removal), status.mode == PartFile.mode
            else { return nil }
            return Remains(paths: paths, record: nil)
        }
    }

    /// Removes the files, unless a download uses them. A finished file stays. Blocks.
    package static func discard(_ remains: Remains, fileSystem: any FileSystem) {
        let paths = remains.paths
        if let record = remains.record {
            let id = DownloadID(rawValue: record.id)
            DownloadDriver.discard(path: paths.part.string, id: id, fileSystem: fileSystem)
            finish(at: paths.part.string, by: id, fileSystem: fileSystem)
        } else if let part = try? PartFile.open(paths.part, fileSystem: fileSystem) {
            // The download that creates a part file keeps it locked.
            if (try? fileSystem.exists(paths.journal)) == false { try? part.remove() } else { part.close() }
        }
    }
}

extension PublishedFile {
    /// Deletes a published file if it is unchanged and passes the ownership check. A missing file is not an error.
    ///
    /// Throws `conflict` if `file` is `nil` or another file is at the path, `disk` if the file cannot be deleted. Blocks.
    package static func delete(
        _ path: String, ifUnchangedSince file: PublishedFile?, fileSystem: any FileSystem
    ) throws(DownloadError) {
        guard let now = try read(path, fileSystem: fileSystem) else { return }
        guard let file, now == file, file.isUnchanged(fileSystem: fileSystem) else {
            throw DownloadError(
                .conflict, ErrorPhrase(.otherThanDownloaded, path),
                recovery: .needsUser)
        }
        // allow(ours): the list published this file, and it is unchanged.
        do throws(FileError) { try fileSystem.unlink(FilePath(path)) } catch { throw DownloadError(error) }
    }
}
