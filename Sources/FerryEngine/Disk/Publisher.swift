package import FerryCore
import SystemPackage

/// Gives a complete part file its final name.
///
///     mode, time, attribute; sync the file; announce; rename without replacing; sync the directory
///
/// Invariants: no file is renamed before its announcement; a file with the final name is complete and, when syncing,
/// on the disk; nothing is replaced unless the order permits it. After a crash at any point
/// ``recover(_:part:unsyncedBoot:)`` determines whether the rename took place.
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
        var notes = FileMetadata(order, mode: 0o666 & ~fileSystem.creationMask).put(on: part.file)
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
            let how = try disk { () throws(FileError) in
                try rename(part.path, to: paths.final, replacing: replaces)
            }
            guard let how else {
                // The name was taken since the check, so check again.
                lost += 1
                continue
            }
            if number > 0 {
                let taker = NameTaker(fileSystem: fileSystem)
                notes.append(taker.note(numbered: paths.name, instead: order))
            }
            return try Published(path: paths.final, name: paths.name, notes: notes + how)
                .settled(on: fileSystem, syncs: syncs)
        }
        throw .noFreeName(order.directory.appending(order.name))
    }

    /// Throws unless the path leads to the open part file and the file has its full length.
    private func checkWhole(_ part: PartFile, _ order: PublishOrder) throws(PublishError) {
        let length = try disk { () throws(FileError) in try part.isNamed() ? part.length() : nil }
        guard let length else { throw .notIntact(part.path) }
        guard length == order.length else {
            throw .wrongLength(part.path, expected: order.length, actual: length)
        }
    }

    /// Returns whether the name is to be taken by replacing; `nil` if it is taken and the next number must be tried.
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
