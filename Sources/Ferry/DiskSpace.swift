package import FerryCore
import FerryEngine
import SystemPackage

/// The total and free space of file systems.
package enum DiskSpace {
    /// The free bytes at a path, or at its nearest existing ancestor; `nil` if they cannot be determined.
    package static func free(at path: String) -> ByteCount? {
        var path = path
        while true {
            if let space = try? EngineProvider.fileSystem.space(at: FilePath(path)) { return space.freeBytes }
            let parent = Paths.parent(of: path)
            if parent == path { return nil }
            path = parent
        }
    }

    /// The size of the file system at a path; `nil` if it cannot be determined.
    package static func total(at path: String) -> ByteCount? {
        try? EngineProvider.fileSystem.space(at: FilePath(path)).totalBytes
    }
}
