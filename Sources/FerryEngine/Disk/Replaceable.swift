import FerryCore
import SystemPackage

/// What the rule "overwrite" may replace: files, but nothing that belongs to a download under way.
enum Replaceable {
    static func allows(
        _ path: FilePath, _ status: FileStatus, fileSystem: any FileSystem
    ) throws(FileError) -> Bool {
        guard status.kind != .directory, let name = path.lastComponent?.string else { return false }
        // `a.part` may be a file that somebody wants, or the part file of `a`, which shows by its mode or its journal.
        if status.kind == .regular, status.mode & 0o7000 == PartFile.mode & 0o7000 { return false }
        if name.utf8.hasSuffix(".part"), try fileSystem.exists(FilePath(path.string + ".ferry")) { return false }
        return ![".part.ferry", ".part.ferry.old", ".part.ferry.new"].contains { name.utf8.hasSuffix($0) }
    }
}
