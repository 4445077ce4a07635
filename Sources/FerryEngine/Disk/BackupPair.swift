import FerryCore
import SystemPackage

/// Keeps a part file and its journal as a backup, with the suffix `.old`, when the file on the server has changed.
/// The caller checks first whether an existing backup may be replaced.
///
/// There is one backup per name. The part file is moved first; if a crash leaves only its journal at the old path,
/// calling ``move()`` again completes the move.
package struct BackupPair: Sendable {
    let paths: DownloadPaths
    let fileSystem: any FileSystem
    private let syncs: Bool

    package init(_ paths: DownloadPaths, fileSystem: any FileSystem, syncs: Bool) {
        self.paths = paths
        self.fileSystem = fileSystem
        self.syncs = syncs
    }

    /// Moves the pair to the backup; open files stay open.
    package func move() throws(FileError) {
        for (from, to) in [(paths.part, paths.oldPart), (paths.journal, paths.oldJournal)] {
            do throws(FileError) {
                try fileSystem.rename(from, to: to, replacing: true)
            } catch {
                guard error.kind == .notFound else { throw error }
            }
        }
        if syncs { try fileSystem.syncDirectoryIfSupported(paths.directory) }
    }

    /// Restores the backup if no new pair has replaced it, for example after a crash before the new pair existed, or during
    /// ``move()`` or this call. The restored download is validated with its server again.
    ///
    /// - Parameter inode: The inode number in the journal at the original path, if there is one. Beside that journal, only the
    ///   part file with this inode number is restored.
    /// - Returns: `false` if there is no backup, or another pair is at the original path.
    package func moveBack(beside inode: UInt64?) throws(FileError) -> Bool {
        let hasJournal = try fileSystem.exists(paths.journal)
        let part = try fileSystem.statusIfPresent(paths.part)
        if hasJournal, part != nil { return false }
        var isMoved = false
        if let old = try fileSystem.statusIfPresent(paths.oldPart) {
            // A new part file without a journal is empty, so it may be replaced.
            if let part {
                guard NameTaker.isAbandoned(part), fileSystem.flaw(of: part, at: paths.part) == nil else {
                    return false
                }
            }
            guard fileSystem.flaw(of: old, at: paths.oldPart) == nil else { return false }
            guard try hasJournal ? old.inode == inode : fileSystem.exists(paths.oldJournal) else { return false }
            try fileSystem.rename(paths.oldPart, to: paths.part, replacing: part != nil)
            isMoved = true
        }
        if !hasJournal, isMoved || part != nil, try fileSystem.exists(paths.oldJournal) {
            try fileSystem.rename(paths.oldJournal, to: paths.journal, replacing: false)
            isMoved = true
        }
        if isMoved, syncs { try fileSystem.syncDirectoryIfSupported(paths.directory) }
        return isMoved
    }

    /// Removes the backup, after publication of the new file or to free space. A file that fails the ownership check
    /// stays.
    package func remove() throws(FileError) {
        // The part file is removed first, because a remaining journal is small and still identifies the backup.
        for path in [paths.oldPart, paths.oldJournal] where try fileSystem.flaw(at: path, for: .removal) == nil {
            // allow(ours): checked just now; the caller has read the journal.
            try fileSystem.removeIfPresent(path)
        }
        // No download would remove a backup that reappears after a power failure.
        if syncs { try fileSystem.syncDirectoryIfSupported(paths.directory) }
    }

    package func isPresent() throws(FileError) -> Bool {
        if try fileSystem.exists(paths.oldPart) { return true }
        return try fileSystem.exists(paths.oldJournal)
    }
}
