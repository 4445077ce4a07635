import FerryCore
import SystemPackage

/// The files that the rule `overwrite` may replace: all but those of a download in progress.
enum Replaceable {
    static func allows(
        _ path: FilePath, _ status: FileStatus, fileSystem: any FileSystem
    ) throws(FileError) -> Bool {
        guard status.kind != .directory, let name = path.lastComponent?.string else { return false }
        // `a.part` may be a user's file, or the part file of `a`, which its mode or journal reveals.
        if status.kind == .regular, status.mode & 0o7000 == PartFile.mode & 0o7000 { return false }
        if name.utf8.hasSuffix(".part"), try fileSystem.exists(FilePath(path.string + ".ferry")) { return false }
        return ![".part.ferry", ".part.ferry.old", ".part.ferry.new"].contains { name.utf8.hasSuffix($0) }
    }
}
