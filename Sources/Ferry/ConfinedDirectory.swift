package import FerryCore
import FerryEngine
import SystemPackage

/// Operations on a directory that is named in a request to this process.
package enum ConfinedDirectory {
    /// Throws `disk` if the directory is not writable, or is missing and cannot be created.
    package static func checkWritable(_ path: String) async throws(DownloadError) {
        try await EngineProvider.files.run { disk throws(DownloadError) in
            try PartFiles.checkWritable(.directory(path), fileSystem: disk.fileSystem)
        }
    }

    /// Creates a directory and its missing ancestors, and checks that it is writable. Throws `disk`, including for a symbolic
    /// link below `root`.
    ///
    /// - Parameter root: A directory that contains the path. It may itself be a symbolic link. With `nil`, all links are followed.
    package static func prepare(_ path: String, within root: String?) async throws(DownloadError) {
        try await EngineProvider.files.run { disk throws(DownloadError) in
            let (directory, files) = (FilePath(path), disk.fileSystem(within: root))
            do throws(FileError) { try files.makeDirectories(directory, syncs: true) } catch {
                throw DownloadError(error)
            }
            guard files.isWritable(directory) else {
                throw DownloadError(.disk, ErrorPhrase(.directoryReadOnly, path))
            }
        }
    }
}
