import FerryCore
import SystemPackage

/// The names that other programs give to unfinished files: `NAME.part` (Firefox), `NAME.crdownload` (Chrome), and
/// `NAME` itself (curl, wget).
enum HalfFile {
    static let suffixes = [DownloadPaths.partSuffix, ".crdownload"]

    /// The paths of unfinished files of a download.
    static func paths(of paths: DownloadPaths) -> [FilePath] {
        [paths.final] + suffixes.map { paths.directory.appending(paths.name + $0) }
    }

    /// Returns the name of the finished file.
    static func name(_ path: FilePath) -> String {
        let last = path.lastComponent?.string ?? ""
        for suffix in suffixes {
            if let stem = last.dropping(suffix: suffix), !stem.isEmpty { return String(stem) }
        }
        return last
    }
}
