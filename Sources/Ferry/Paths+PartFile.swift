import FerryCore
import FerryEngine
import SystemPackage

extension Paths {
    /// Returns the path of the part file beside a final path, whose name is shortened if the final name is too long for it.
    package static func part(of path: String) -> String {
        DownloadPaths(of: FilePath(path))?.part.string ?? path + DownloadPaths.partSuffix
    }

    /// Returns the path of the journal of that part file.
    package static func journal(of path: String) -> String {
        DownloadPaths(of: FilePath(path))?.journal.string ?? path + DownloadPaths.journalSuffix
    }
}
