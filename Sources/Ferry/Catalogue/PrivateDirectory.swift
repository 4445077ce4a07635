import FerryEngine
import SystemPackage

/// A directory that only its owner may look into.
struct PrivateDirectory {
    let path: FilePath
    let fileSystem: any FileSystem

    /// Makes it, with those above, when missing. One that is empty or holds a catalogue is closed to others; what
    /// else somebody chose to keep us in is theirs to set.
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

    /// Takes everybody else's rights away.
    func close() throws {
        let directory = try fileSystem.open(path, .readOnly)
        defer { directory.close() }
        try directory.setMode(0o700)
    }
}
