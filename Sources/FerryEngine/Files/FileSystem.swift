package import FerryCore
package import SystemPackage

/// What a file is opened for.
package enum FileAccess: Sendable, Hashable {
    case readOnly
    /// As ``readOnly``, never through a symbolic link as the last component.
    case readInPlace
    /// Never through a symbolic link as the last component: nobody else chooses what we write to.
    case readWrite
}

/// The system calls that Disk and Journal stand on; everything they do to a disk goes through here.
///
/// Each function is about one system call, so that a fault can be put in front of each.
package protocol FileSystem: Sendable {
    /// Opens a file that is there.
    func open(_ path: FilePath, _ access: FileAccess) throws(FileError) -> any File

    /// Makes a file that was not there, for reading and writing; ``FileError/Kind/exists`` otherwise.
    ///
    /// The system takes the umask off `mode`.
    func create(_ path: FilePath, mode: UInt16) throws(FileError) -> any File

    /// Makes a file without a name; it vanishes unless ``link(_:to:)-(File,_)`` names it.
    ///
    /// ``FileError/Kind/unsupported`` where the file system has none. The system takes the umask off `mode`.
    func openUnnamed(in directory: FilePath, mode: UInt16) throws(FileError) -> any File

    /// Names an unnamed file; never replaces.
    func link(_ file: any File, to path: FilePath) throws(FileError)

    /// A second name for a file; never replaces.
    func link(_ from: FilePath, to path: FilePath) throws(FileError)

    /// Renames; with `replacing: false` ``FileError/Kind/exists`` when `path` is taken, and
    /// ``FileError/Kind/unsupported`` where the file system cannot promise that.
    func rename(_ from: FilePath, to path: FilePath, replacing: Bool) throws(FileError)

    func unlink(_ path: FilePath) throws(FileError)

    func makeDirectory(_ path: FilePath) throws(FileError)

    /// Brings the names in a directory to the disk; ``FileError/Kind/unsupported`` where that cannot be asked for.
    func syncDirectory(_ path: FilePath) throws(FileError)

    func status(_ path: FilePath, followingLinks: Bool) throws(FileError) -> FileStatus

    /// The names in a directory that are UTF-8, without `.` and `..`, in no order.
    func list(_ directory: FilePath) throws(FileError) -> [String]

    /// The bytes that this user may still write.
    func freeBytes(at path: FilePath) throws(FileError) -> ByteCount

    /// Whether names can be made in a directory, as far as permissions say.
    func isWritable(_ directory: FilePath) -> Bool

    /// The same, held to a directory: paths lead below it alone and through no symbolic link there, whatever is renamed or
    /// replaced meanwhile; ``FileError/Kind/confined`` for others. The directory itself and those that it is in stay as
    /// they are, because they are the user's choice.
    func confined(to root: FilePath) -> any FileSystem

    /// Names this run of the system; another one after a restart. `nil` when unknown.
    var bootID: String? { get }

    /// Whose the files are that this process makes, on most file systems.
    var user: FileUser { get }

    /// The umask: bits that new files of this process do not get.
    var creationMask: UInt16 { get }
}

extension FileSystem {
    /// What the name itself is (a symbolic link is not followed); `nil` when there is none.
    package func statusIfPresent(_ path: FilePath) throws(FileError) -> FileStatus? {
        do throws(FileError) {
            return try status(path, followingLinks: false)
        } catch  where error.kind == .notFound {
            return nil
        }
    }

    /// Whether the name is taken, be it by a dangling symbolic link.
    package func exists(_ path: FilePath) throws(FileError) -> Bool {
        try statusIfPresent(path) != nil
    }

    /// Removes a name; it may be gone already.
    package func removeIfPresent(_ path: FilePath) throws(FileError) {
        do throws(FileError) {
            try unlink(path)
        } catch  where error.kind == .notFound {
        }
    }

    /// Makes a directory with those above it, where missing; each new name is synced when `syncs`.
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
                // Somebody made it meanwhile; if it is no directory, the next step says so.
            }
            if syncs {
                let parent = directory.removingLastComponent()
                do throws(FileError) {
                    try syncDirectory(parent.isEmpty ? "." : parent)
                } catch  where error.kind == .unsupported {
                }
            }
        }
    }
}
