import FerryEngine
import SystemPackage

/// A directory accessible to its owner only.
struct PrivateDirectory {
    let path: FilePath
    let fileSystem: any FileSystem

    /// Creates the directory and its parents if missing. An existing directory is made private if it is empty or contains a
    /// catalogue; the mode of any other directory is not changed.
    func prepare() throws {
        if let status = try fileSystem.statusIfPresent(path) {
            let names = try fileSystem.list(path)
            let isOurs = names.isEmpty || names.contains(Catalogue.fileName)
            // A symbolic link has no mode of its own.
            if status.kind == .directory, status.mode & 0o077 != 0, isOurs { try close() }
            return
        }
        try fileSystem.makeDirectories(path, syncs: true)
        try close()
    }

    /// Sets mode 0700, and the data protection class of the files in the directory.
    func close() throws {
        let directory = try fileSystem.open(path, .readOnly)
        defer { directory.close() }
        directory.mark(as: .records)
        try directory.setMode(0o700)
    }
}
