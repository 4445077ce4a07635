package import FerryCore
import SystemPackage

/// Puts a part file and its journal aside, as `.old`, when the file on the server proved to be another (DESIGN §3).
/// Whose the pair is that lies there already, the caller has looked.
///
/// One generation: what was aside before is replaced. The part file goes first; a crash in between leaves a journal
/// whose part file is found under its old name, and ``move()`` again finishes.
package struct BackupPair: Sendable {
    let paths: DownloadPaths
    let fileSystem: any FileSystem
    private let syncs: Bool

    package init(_ paths: DownloadPaths, fileSystem: any FileSystem, syncs: Bool) {
        self.paths = paths
        self.fileSystem = fileSystem
        self.syncs = syncs
    }

    /// Moves what is there; open files stay open.
    package func move() throws(FileError) {
        for (from, to) in [(paths.part, paths.oldPart), (paths.journal, paths.oldJournal)] {
            do throws(FileError) {
                try fileSystem.rename(from, to: to, replacing: true)
            } catch {
                guard error.kind == .notFound else { throw error }
            }
        }
        try syncDirectory()
    }

    /// Puts back what is aside when nothing has taken its place: a crash came before there was a new pair, or in the middle of
    /// ``move()`` or of this. What is put back is the download again, and its server decides anew.
    ///
    /// - Parameter inode: The part file that a journal in its place is about; only that one is put back beside it.
    /// - Returns: False when there is nothing to put back, or another pair is there.
    package func moveBack(beside inode: UInt64?) throws(FileError) -> Bool {
        let hasJournal = try fileSystem.exists(paths.journal)
        let part = try fileSystem.statusIfPresent(paths.part)
        if hasJournal, part != nil { return false }
        var isMoved = false
        if let old = try fileSystem.statusIfPresent(paths.oldPart) {
            // A new part file that was made, and got no journal any more, is empty.
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
        if isMoved { try syncDirectory() }
        return isMoved
    }

    /// Removes what is aside: when the new one is published, or room is needed. A part file that is not ours stays.
    package func remove() throws(FileError) {
        // The bytes first: a journal alone is small, and says what the rest of it was.
        for path in [paths.oldPart, paths.oldJournal] where try fileSystem.flaw(at: path, for: .removal) == nil {
            // allow(ours): looked at just now; the caller has read the journal.
            try fileSystem.removeIfPresent(path)
        }
    }

    package func isPresent() throws(FileError) -> Bool {
        if try fileSystem.exists(paths.oldPart) { return true }
        return try fileSystem.exists(paths.oldJournal)
    }

    /// The space that ``remove()`` would give back; 0 when that cannot be told.
    package func freeableBytes() -> ByteCount {
        guard let status = try? fileSystem.statusIfPresent(paths.oldPart), status.linkCount == 1 else { return 0 }
        return status.allocatedBytes
    }

    private func syncDirectory() throws(FileError) {
        guard syncs else { return }
        do throws(FileError) {
            try fileSystem.syncDirectory(paths.directory)
        } catch {
            guard error.kind == .unsupported else { throw error }
        }
    }
}
