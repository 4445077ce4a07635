package import FerryCore
package import SystemPackage

/// Gives a complete part file its final name.
///
///     mode, time, attribute; sync the file; announce; keep the replaced file; rename; sync the directory
///
/// Invariants: no file is renamed before its announcement. A file with the final name is complete and, when syncing, on the disk. A
/// file is replaced only if the order permits it, and only after it has been kept if the order requires that (``FileKeeper``).
/// After a crash at any point ``recover(_:part:unsyncedBoot:)`` determines whether the rename took place.
package struct Publisher: Sendable {
    let fileSystem: any FileSystem
    let syncs: Bool

    /// `syncs: false` for `--no-fsync`.
    package init(fileSystem: any FileSystem, syncs: Bool) {
        self.fileSystem = fileSystem
        self.syncs = syncs
    }

    /// Publishes the part file, which stays open and locked under its new name.
    ///
    /// `announce` must make the journal's announcement durable before it returns. It is called again if the announced
    /// name turns out to be taken.
    package func publish(
        _ part: PartFile, _ order: PublishOrder, announce: (JournalRecord.Publishing) throws -> Void
    ) throws(PublishError) -> Published {
        try checkWhole(part, order)
        let mode = try disk { () throws(FileError) in try replacedMode(order) }
        var notes = FileMetadata(order, mode: mode ?? 0o666 & ~fileSystem.creationMask).put(on: part.file)
        if syncs { try disk { () throws(FileError) in try part.file.sync() } }
        var number = 0
        var lost = 0
        while number <= NameTaker.maxNumber, lost <= NameTaker.maxNumber {
            guard let paths = DownloadPaths(order.name, number: number, in: order.directory) else {
                throw .blocked(order.directory.appending(order.name))
            }
            let answer = try look(at: paths, isFirst: number == 0, order)
            guard let replaces = answer else {
                number += 1
                continue
            }
            do {
                try announce(
                    .init(name: paths.name, device: part.device, inode: part.inode, length: order.length))
            } catch {
                throw .announcing(error)
            }
            // Other programs may have changed the files during the announcement.
            try checkWhole(part, order)
            if order.replaces != nil, replaces, try look(at: paths, isFirst: number == 0, order) != true {
                // The file to be replaced has changed since the check.
                lost += 1
                continue
            }
            if replaces, let copy = order.keptCopy,
                try !disk({ () throws(FileError) in try keep(paths.final, as: copy) })
            {
                lost += 1
                continue
            }
            let how = try disk { () throws(FileError) in
                try rename(part.path, to: paths.final, replacing: replaces)
            }
            guard var how else {
                // The name was taken since the check, so check again.
                lost += 1
                continue
            }
            if replaces, let copy = order.keptCopy { how = [.kept(copy.filePath)] }
            if number > 0 {
                let taker = NameTaker(fileSystem: fileSystem)
                notes.append(taker.note(numbered: paths.name, instead: order))
            }
            return try Published(path: paths.final, name: paths.name, notes: notes + how)
                .settled(on: fileSystem, syncs: syncs)
        }
        throw .noFreeName(order.directory.appending(order.name))
    }

    /// Keeps the file to be replaced; returns `false` if the path now leads to another file.
    private func keep(_ path: FilePath, as copy: KeptCopy) throws(FileError) -> Bool {
        let kept = try FileKeeper(fileSystem: fileSystem, syncs: syncs).keep(path, as: copy)
        return try fileSystem.statusIfPresent(path).map { PublishedFile(path, $0) } == kept
    }

    /// The permission bits of the file to be replaced, which the new file adopts; `nil` if there is no such file of this user.
    private func replacedMode(_ order: PublishOrder) throws(FileError) -> UInt16? {
        guard order.rule == .overwrite || order.replaces != nil else { return nil }
        let path = order.directory.appending(order.name)
        guard let status = try fileSystem.ours(at: path, for: .content),
            order.rule == .overwrite || order.replaces == PublishedFile(path, status)
        else { return nil }
        return status.mode & 0o777
    }

    /// Throws unless the path leads to the open part file and the file has its full length.
    private func checkWhole(_ part: PartFile, _ order: PublishOrder) throws(PublishError) {
        let length = try disk { () throws(FileError) in try part.isNamed() ? part.length() : nil }
        guard let length else { throw .notIntact(part.path) }
        guard length == order.length else {
            throw .wrongLength(part.path, expected: order.length, actual: length)
        }
    }

    /// Returns whether publishing replaces the file at the name; `nil` if the name is taken and the next number must be tried.
    private func look(
        at paths: DownloadPaths, isFirst: Bool, _ order: PublishOrder
    ) throws(PublishError) -> Bool? {
        let status = try disk { () throws(FileError) in try fileSystem.statusIfPresent(paths.final) }
        guard isFirst else {
            let taker = NameTaker(fileSystem: fileSystem)
            return try disk { () throws(FileError) in try taker.isFree(paths) } ? false : nil
        }
        guard let status else { return false }
        let isOwn = status.kind == .regular && order.replaces == PublishedFile(paths.final, status)
        let rule = isOwn ? .overwrite : order.rule
        switch rule {
        case .rename: return nil
        case .fail, .skip: throw .exists(paths.final)
        case .overwrite:
            let allows = try disk { () throws(FileError) in
                try Replaceable.allows(paths.final, status, fileSystem: fileSystem)
            }
            guard allows else { throw .blocked(paths.final) }
            return true
        }
    }

    /// Renames the file; returns `nil` if the name is taken.
    func rename(_ from: FilePath, to path: FilePath, replacing: Bool) throws(FileError) -> [PublishNote]? {
        if replacing {
            try fileSystem.rename(from, to: path, replacing: true)
            return [.replaced]
        }
        do throws(FileError) {
            try fileSystem.rename(from, to: path, replacing: false)
            return []
        } catch {
            if error.kind == .exists { return nil }
            guard error.kind == .unsupported else { throw error }
        }
        do throws(FileError) {
            try fileSystem.link(from, to: path)
        } catch {
            switch error.kind {
            case .exists: return nil
            case .unsupported, .permission, .crossDevice: break  // The file system has no hard links.
            default: throw error
            }
            if try fileSystem.exists(path) { return nil }
            try fileSystem.rename(from, to: path, replacing: true)
            return [.renamedAfterCheck]
        }
        do throws(FileError) {
            // allow(ours): the file has just been given its final name.
            try fileSystem.unlink(from)
            return [.linked]
        } catch {
            return [.linked, .partNameLeft(from)]
        }
    }

    /// Syncs the directory of `path`; returns `false` if the file system cannot.
    func syncDirectory(of path: FilePath) throws(FileError) -> Bool {
        guard syncs else { return true }
        return try fileSystem.syncDirectoryIfSupported(path.parent)
    }

    private func disk<Value>(_ body: () throws(FileError) -> Value) throws(PublishError) -> Value {
        do throws(FileError) { return try body() } catch { throw .file(error) }
    }
}

/// The reason why a file was not published. Except where noted, the part file is unchanged.
package enum PublishError: Error, Sendable {
    /// The part file's path is missing or leads to another file.
    case notIntact(FilePath)
    /// The part file does not have the expected length.
    case wrongLength(FilePath, expected: ByteCount, actual: ByteCount)
    /// The name is taken, and the rule is `fail` or `skip`.
    case exists(FilePath)
    /// The name belongs to a directory or another download's files, which must not be replaced.
    case blocked(FilePath)
    case noFreeName(FilePath)
    /// A system call failed. After a failed sync the part file's content must not be trusted.
    case file(FileError)
    /// The announcement failed; nothing was renamed.
    case announcing(any Error)
    /// The file has its final name, but the name may not survive a power failure, so the journal must stay.
    case unsyncedName(Published, FileError)

    package var message: String { phrase.text(in: .english) }

    /// The localizable message.
    package var phrase: ErrorPhrase {
        switch self {
        case .notIntact(let path): ErrorPhrase(.removedOrReplaced, path.string)
        case .wrongLength(let path, let expected, let actual):
            ErrorPhrase(.wrongLength, path.string, "\(actual)", "\(expected)")
        case .exists(let path): ErrorPhrase(.alreadyThere, path.string)
        case .blocked(let path): ErrorPhrase(.mustNotReplace, path.string)
        case .noFreeName(let path): ErrorPhrase(.noNameLike, path.string)
        case .file(let error): error.phrase
        case .announcing(let error): ErrorPhrase(.unwritableJournal, "\(error)")
        case .unsyncedName(let published, let error): ErrorPhrase(.completeBut, published.path.string, error.phrase)
        }
    }
}

extension PublishError: CustomStringConvertible {
    package var description: String { message }
}

extension Publisher {
    /// The state of an interrupted publication.
    package enum Recovery: Sendable, Hashable {
        /// The part file exists with its full length: open it and publish again.
        case again
        /// The file has its final name, which is now durable; the journal can be removed.
        case finished(FilePath)
        /// A file with the final name exists, but its content is not proven, for the given reason. A digest can decide.
        case unproven(FilePath, Reason)
        /// Neither file is usable, for the given reason.
        case lost(Reason)
    }

    /// Determines the state of an announced publication, and completes it if possible. Files that fail the ownership
    /// check are not considered.
    ///
    /// `unsyncedBoot`: the boot identifier in the journal. Unsynced data is trusted only during the same boot.
    package func recover(
        _ publishing: JournalRecord.Publishing, part: FilePath, unsyncedBoot: String? = nil
    ) throws(FileError) -> Recovery {
        guard DownloadPaths.isBareName(publishing.name) else { return .lost(Reason(.unusableAnnouncement)) }
        let final = part.removingLastComponent().appending(publishing.name)
        // A file between link and unlink has two names.
        let published = try fileSystem.ours(at: final, for: .content)
        let rest = try fileSystem.statusIfPresent(part)
        let wasDropped = unsyncedBoot != nil && unsyncedBoot != fileSystem.bootID
        if let published, publishing.describes(published), published.device == publishing.device {
            if wasDropped {
                return .unproven(final, Reason(.unsyncedFile, final.string))
            }
            // Two names: the crash occurred between link and unlink.
            // allow(ours): the same file keeps its final name.
            if let rest, rest.isSameFile(as: published) { try fileSystem.unlink(part) }
            _ = try syncDirectory(of: final)
            return .finished(final)
        }
        if let rest {
            guard fileSystem.flaw(of: rest, at: part) == nil, rest.inode == publishing.inode,
                rest.device == publishing.device
            else {
                return .lost(Reason(.otherThanAnnounced, part.string))
            }
            guard rest.length == publishing.length else {
                return .lost(Reason(.wrongLength, part.string, "\(rest.length)", "\(publishing.length)"))
            }
            if wasDropped { return .lost(Reason(.unsyncedFile, part.string)) }
            return .again
        }
        if let published, publishing.describes(published) {
            return .unproven(final, Reason(.otherDevice, final.string))
        }
        return .lost(Reason(.neitherPublished, part.string, final.string))
    }
}

extension JournalRecord.Publishing {
    /// Returns whether inode number and length match, on any device.
    fileprivate func describes(_ status: FileStatus) -> Bool {
        status.inode == inode && status.length == length
    }
}

/// The name and metadata for a file to be published.
package struct PublishOrder: Sendable, Hashable {
    package var directory: FilePath
    /// The wanted name, one component.
    package var name: String
    package var rule: ConflictRule
    /// The length of the complete file.
    package var length: ByteCount
    /// The server's Last-Modified; `nil` keeps the time of the last write.
    package var modificationTime: FileTime?
    /// The content of `user.ferry.source`; `nil` for no attribute.
    package var source: FileSource?
    /// The published file to replace, under any rule, if it is unchanged at the wanted name; `nil` for none. Its
    /// path is absolute and normalized.
    package var replaces: PublishedFile?
    /// Whether an existing file with the wanted name, the same bytes and the same source is used instead of publishing a
    /// small file under another name.
    package var keepsTwin: Bool
    /// Where the replaced file is kept; `nil` to keep no copy.
    package var keptCopy: KeptCopy?

    package init(
        directory: FilePath, name: String, rule: ConflictRule, length: ByteCount, modificationTime: FileTime? = nil,
        source: FileSource? = nil, replaces: PublishedFile? = nil, keepsTwin: Bool = false,
        keptCopy: KeptCopy? = nil
    ) {
        self.directory = directory
        self.name = name
        self.rule = rule
        self.length = length
        self.modificationTime = modificationTime
        self.source = source
        self.replaces = replaces
        self.keepsTwin = keepsTwin
        self.keptCopy = keptCopy
    }
}
