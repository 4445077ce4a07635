package import FerryCore
package import SystemPackage

/// The access mode of an open file.
package enum FileAccess: Sendable, Hashable {
    case readOnly
    /// Like ``readOnly``, but never through a symbolic link as the last component.
    case readInPlace
    /// Never through a symbolic link as the last component, because another user could redirect writes with it.
    case readWrite
}

/// The system calls on files. The code for the disk and the journal accesses the file system only through them.
///
/// Each function corresponds to about one system call, so that tests can inject a fault before each of them.
package protocol FileSystem: Sendable {
    /// Opens an existing file.
    func open(_ path: FilePath, _ access: FileAccess) throws(FileError) -> any File

    /// Creates a file exclusively, for reading and writing; throws ``FileError/Kind/exists`` if the path exists.
    ///
    /// The system applies the umask to `mode`.
    func create(_ path: FilePath, mode: UInt16) throws(FileError) -> any File

    /// Creates an unnamed file, which is freed when closed unless ``link(_:to:)-(File,_)`` has named it.
    /// Throws ``FileError/Kind/unsupported`` if the file system does not support unnamed files. The system applies the umask to
    /// `mode`.
    func openUnnamed(in directory: FilePath, mode: UInt16) throws(FileError) -> any File

    /// Links an unnamed file to a name; never replaces.
    func link(_ file: any File, to path: FilePath) throws(FileError)

    /// Creates a hard link; never replaces.
    func link(_ from: FilePath, to path: FilePath) throws(FileError)

    /// Renames a file. With `replacing: false`, throws ``FileError/Kind/exists`` if `path` exists, and
    /// ``FileError/Kind/unsupported`` if the file system cannot guarantee that.
    func rename(_ from: FilePath, to path: FilePath, replacing: Bool) throws(FileError)

    func unlink(_ path: FilePath) throws(FileError)

    func makeDirectory(_ path: FilePath) throws(FileError)

    /// Removes an empty directory; throws ``FileError/Kind/exists`` if it is not empty.
    func removeDirectory(_ path: FilePath) throws(FileError)

    /// Syncs a directory's entries; throws ``FileError/Kind/unsupported`` if the file system cannot.
    func syncDirectory(_ path: FilePath) throws(FileError)

    func status(_ path: FilePath, followingLinks: Bool) throws(FileError) -> FileStatus

    /// Calls `body` with each name in a directory, except `.` and `..`, in any order, until it returns `false`. A name that is
    /// not valid UTF-8 is passed as `nil`.
    func list(_ directory: FilePath, _ body: (_ name: String?) -> Bool) throws(FileError)

    /// Returns the size of the file system that contains `path`.
    func space(at path: FilePath) throws(FileError) -> FileSystemSpace

    /// Returns whether the permissions allow creating files in a directory.
    func isWritable(_ directory: FilePath) -> Bool

    /// Returns the same file system confined to these directories. Other paths, and paths through symbolic links below the
    /// directories, throw ``FileError/Kind/confined``, even after renames and replacements. The roots themselves and their
    /// ancestors are exempt, because the user chose them; a root below another root is not.
    func confined(to roots: [FilePath]) -> any FileSystem

    /// Returns the same file system, which opens its roots once instead of for each call. For the calls of a moment: a root that
    /// is moved meanwhile stays the root.
    func holdingRoots() -> any FileSystem

    /// An identifier of the current boot; `nil` if unknown.
    var bootID: String? { get }

    /// The owner of the files that this process creates, on most file systems.
    var user: FileUser { get }

    /// The umask: the permission bits that are cleared in new files of this process.
    var creationMask: UInt16 { get }
}

extension FileSystem {
    package func holdingRoots() -> any FileSystem { self }

    /// Returns the names in a directory that are valid UTF-8, except `.` and `..`, in any order.
    package func list(_ directory: FilePath) throws(FileError) -> [String] {
        var names: [String] = []
        try list(directory) { name in
            if let name { names.append(name) }
            return true
        }
        return names
    }

    /// Returns the status of the path itself, without following a symbolic link; `nil` if it does not exist.
    package func statusIfPresent(_ path: FilePath) throws(FileError) -> FileStatus? {
        do throws(FileError) {
            return try status(path, followingLinks: false)
        } catch  where error.kind == .notFound {
            return nil
        }
    }

    /// Returns whether the path exists, even as a dangling symbolic link.
    package func exists(_ path: FilePath) throws(FileError) -> Bool {
        try statusIfPresent(path) != nil
    }

    /// Removes a file; a missing file is not an error.
    package func removeIfPresent(_ path: FilePath) throws(FileError) {
        do throws(FileError) {
            try unlink(path)
        } catch  where error.kind == .notFound {
        }
    }

    /// Creates a directory and its missing ancestors; syncs each new entry if `syncs`.
    package func makeDirectories(_ path: FilePath, syncs: Bool) throws(FileError) {
        var missing: [FilePath] = []
        var ancestor = path
        while true {
            do throws(FileError) {
                let found = try status(ancestor.isEmpty ? "." : ancestor, followingLinks: true)
                guard found.kind == .directory else {
                    throw FileError(.makeDirectory, ancestor, kind: .notDirectory)
                }
                break
            } catch  where error.kind == .notFound && error.operation == .inspect && !ancestor.isEmpty {
                missing.append(ancestor)
                ancestor = ancestor.removingLastComponent()
            }
        }
        for directory in missing.reversed() {
            do throws(FileError) {
                try makeDirectory(directory)
            } catch  where error.kind == .exists {
                // Another process created the path; if it is not a directory, the next call fails.
            }
            if syncs { try syncDirectoryIfSupported(directory.parent) }
        }
    }

    /// Makes the names in a directory durable; returns `false` if the file system cannot sync directories.
    @discardableResult
    package func syncDirectoryIfSupported(_ directory: FilePath) throws(FileError) -> Bool {
        do throws(FileError) {
            try syncDirectory(directory)
            return true
        } catch  where error.kind == .unsupported {
            return false
        }
    }
}

extension FilePath {
    /// The directory that contains the last component; `.` for a single name.
    package var parent: FilePath {
        let directory = removingLastComponent()
        return directory.isEmpty ? "." : directory
    }
}

/// The size of a file system.
package struct FileSystemSpace: Sendable, Hashable {
    /// The number of bytes that this user can still write.
    package var freeBytes: ByteCount
    package var totalBytes: ByteCount

    package init(freeBytes: ByteCount, totalBytes: ByteCount) {
        self.freeBytes = freeBytes
        self.totalBytes = totalBytes
    }
}

/// A file that was locked while its path led to it.
package struct LockedFile: Sendable {
    package let file: any File
    package let status: FileStatus
    /// `false` if the file system does not support locks, so that other processes are not excluded.
    package let isLocked: Bool
}

extension FileSystem {
    /// Opens a file and locks it, and repeats this until the path leads to the locked file, because the lock belongs to the open
    /// file, and the path may lead to another file between opening and locking.
    ///
    /// Throws ``FileError/Kind/exists`` for the operation `lock` if another open file holds the lock. Returns `nil` if the path
    /// is replaced again and again.
    package func lockNamed(
        _ path: FilePath, _ open: () throws(FileError) -> any File
    ) throws(FileError) -> LockedFile? {
        // Each failed attempt means that another process replaced the file; a hundred in a row are not a coincidence.
        for _ in 0..<100 {
            let file = try open()
            do throws(FileError) {
                var isFree: Bool?
                do throws(FileError) { isFree = try file.tryLock() } catch  where error.kind == .unsupported {}
                let status = try file.status()
                if let named = try statusIfPresent(path), named.isSameFile(as: status) {
                    if isFree == false { throw FileError(.lock, path, kind: .exists) }
                    return LockedFile(file: file, status: status, isLocked: isFree == true)
                }
            } catch {
                file.close()
                throw error
            }
            file.close()
        }
        return nil
    }

    /// Returns whether the path leads to the open file.
    package func isNamed(_ path: FilePath, _ file: any File) throws(FileError) -> Bool {
        guard let named = try statusIfPresent(path) else { return false }
        return try named.isSameFile(as: file.status())
    }
}
