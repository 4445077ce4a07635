import FerryCore
import FerryEngine
import SystemPackage

extension Paths {
    /// Returns the path of the part file beside a final path; its name is shortened if the final name is too long.
    package static func part(of path: String) -> String { beside(path, \.part) ?? path + DownloadPaths.partSuffix }

    /// Returns the path of the journal of that part file.
    package static func journal(of path: String) -> String {
        beside(path, \.journal) ?? path + DownloadPaths.journalSuffix
    }

    private static func beside(_ path: String, _ file: (DownloadPaths) -> FilePath) -> String? {
        guard let name = DownloadPaths(final: FilePath(path)).map(file)?.lastComponent?.string else { return nil }
        let start = path.utf8.lastIndex(of: UInt8(ascii: "/")).map(path.utf8.index(after:)) ?? path.startIndex
        return path[..<start] + name
    }
}
