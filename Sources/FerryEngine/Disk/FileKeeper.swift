package import FerryCore
package import SystemPackage

/// Keeps a file that is about to be replaced or deleted, under another path.
///
///     check the ownership of the file, and of an existing file at the other path
///     link the file to `.incoming-…` beside the other path, or copy it there, sync and compare
///     rename `.incoming-…` to the other path, replacing; sync the directory
///
/// Invariants: the file keeps its first name. Once ``keep(_:as:)`` has returned, it is complete and durable at the other path too,
/// whatever happens to the first name. A crash leaves at most the `.incoming-…` file, which the next call for the same path
/// replaces.
package struct FileKeeper: Sendable {
    let fileSystem: any FileSystem
    let syncs: Bool

    /// `syncs: false` for `--no-fsync`.
    package init(fileSystem: any FileSystem, syncs: Bool) {
        self.fileSystem = fileSystem
        self.syncs = syncs
    }

    /// Keeps the file, and creates the directories of the copy. Returns the fingerprint of the kept file: check
    /// that the original still has it before replacing the original. Blocks.
    ///
    /// Throws ``FileError/Kind/notOurs(_:)`` if either path leads to anything but a regular file of this user, and
    /// ``FileError/Kind/exists`` if both paths are in the same directory.
    package func keep(_ path: FilePath, as copy: KeptCopy) throws(FileError) -> PublishedFile {
        let target = copy.filePath
        let status = try fileSystem.status(path, followingLinks: false)
        try check(status, at: path)
        try fileSystem.makeDirectories(target.parent, syncs: syncs)
        // Compared by their identity, because different paths may lead to the file's own directory.
        let places = (try directory(of: path), try directory(of: target))
        if places.0.isSameFile(as: places.1) { throw FileError(.link, target, kind: .exists) }
        let there = try fileSystem.statusIfPresent(target)
        // Already kept by a run that crashed.
        let isKept = there?.isSameFile(as: status) == true
        if let there, !isKept { try check(there, at: target) }
        let kept = isKept ? PublishedFile(path, status) : try put(path, at: target)
        if syncs { try fileSystem.syncDirectoryIfSupported(target.parent) }
        return kept
    }

    private func check(_ status: FileStatus, at path: FilePath) throws(FileError) {
        guard let flaw = fileSystem.flaw(of: status, at: path, for: .removal) else { return }
        throw FileError(.open, path, kind: .notOurs(flaw))
    }

    private func directory(of path: FilePath) throws(FileError) -> FileStatus {
        try fileSystem.status(path.parent, followingLinks: true)
    }

    private func put(_ path: FilePath, at target: FilePath) throws(FileError) -> PublishedFile {
        let name = ByteDigest.of(Array((target.lastComponent?.string ?? "").utf8), .sha256)
        let draft = target.parent.appending(ReservedName.incoming.text + HexText.string(name))
        if let rest = try fileSystem.statusIfPresent(draft) {
            try check(rest, at: draft)
            // allow(ours): checked just now.
            try fileSystem.removeIfPresent(draft)
        }
        do throws(FileError) {
            let linked = try link(path, to: draft)
            let kept = if let linked { linked } else { try copy(path, to: draft) }
            try fileSystem.rename(draft, to: target, replacing: true)
            return kept
        } catch {
            // allow(ours): it was made here.
            try? fileSystem.removeIfPresent(draft)
            throw error
        }
    }

    /// Links the file to a second name; returns `nil` if the file system does not allow a link there.
    private func link(_ path: FilePath, to draft: FilePath) throws(FileError) -> PublishedFile? {
        do throws(FileError) { try fileSystem.link(path, to: draft) } catch {
            switch error.kind {
            case .unsupported, .crossDevice, .permission, .other(Errno.tooManyLinks.rawValue): return nil
            default: throw error
            }
        }
        // The status of the new name, because the path may lead to another file by now.
        let status = try fileSystem.status(draft, followingLinks: false)
        try check(status, at: draft)
        return PublishedFile(path, status)
    }

    private func copy(_ path: FilePath, to draft: FilePath) throws(FileError) -> PublishedFile {
        let from = try fileSystem.openOurs(path, .readOnly, for: .removal)
        defer { from.close() }
        let status = try from.status()
        let to = try fileSystem.create(draft, mode: 0o600)
        defer { to.close() }
        if status.length > 0 { _ = try to.allocate(length: status.length) }
        let outcome = try FileCopy(from: from, to: to, continues: { true }).copy([0..<status.length])
        guard outcome == .copied else { throw FileError(.write, draft, kind: .io) }
        FileMetadata.copy(of: from, status, to: to)
        if syncs { try to.sync() }
        return PublishedFile(path, status)
    }
}

extension KeptCopy {
    /// The path of the copy.
    package var filePath: FilePath { FilePath(directory).appending(path) }
}
