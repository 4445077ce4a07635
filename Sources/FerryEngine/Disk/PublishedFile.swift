package import FerryCore
import SystemPackage

/// The fingerprint of a published file, which reveals later changes to the file at its path.
package struct PublishedFile: Sendable, Hashable, Codable {
    /// The absolute path.
    package var path: String
    package var device: UInt64
    package var inode: UInt64
    package var length: ByteCount
    package var modified: FileTime

    package init(path: String, device: UInt64, inode: UInt64, length: ByteCount, modified: FileTime) {
        self.path = path
        self.device = device
        self.inode = inode
        self.length = length
        self.modified = modified
    }

    package init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            path: try object.decode(String.self, forKey: .path),
            device: LocalFileSystem.volume(recordedAs: try object.decode(UInt64.self, forKey: .device)),
            inode: try object.decode(UInt64.self, forKey: .inode),
            length: try object.decode(ByteCount.self, forKey: .length),
            modified: try object.decode(FileTime.self, forKey: .modified))
    }

    init(_ path: FilePath, _ status: FileStatus) {
        self.init(
            path: path.string, device: status.device, inode: status.inode, length: status.length,
            modified: status.modified)
    }

    /// The same file at another path.
    package func at(_ path: String) -> PublishedFile {
        var file = self
        file.path = path
        return file
    }

    /// The file that a journal records, if it is at this path; `nil` if another file or none is there. Blocks.
    init?(_ recorded: JournalRecord.Replaced, at path: FilePath, fileSystem: any FileSystem) {
        guard let status = try? fileSystem.statusIfPresent(path), status.kind == .regular else { return nil }
        let file = PublishedFile(path, status)
        guard JournalRecord.Replaced(file) == recorded, file.isUnchanged(fileSystem: fileSystem) else { return nil }
        self = file
    }

    /// Reads the fingerprint of the regular file at `path`; `nil` if there is none. Blocks.
    package static func read(
        _ path: String, fileSystem: any FileSystem
    ) throws(DownloadError) -> PublishedFile? {
        do throws(FileError) {
            let path = FilePath(path)
            guard let status = try fileSystem.statusIfPresent(path), status.kind == .regular else { return nil }
            return PublishedFile(path, status)
        } catch { throw DownloadError(error) }
    }

    /// Returns whether the path still leads to the same file, with equal length and modification time, and the file
    /// passes the ownership check. Blocks.
    package func isUnchanged(
        for purpose: Ownership.Purpose = .removal, fileSystem: any FileSystem
    ) -> Bool {
        let path = FilePath(path)
        guard let status = try? fileSystem.statusIfPresent(path), PublishedFile(path, status) == self else {
            return false
        }
        return fileSystem.flaw(of: status, at: path, for: purpose) == nil
    }
}

extension JournalRecord.Replaced {
    init(_ file: PublishedFile) {
        self.init(device: file.device, inode: file.inode, length: file.length, modified: file.modified.pair)
    }
}

/// The files that the rule `overwrite` may replace: regular files and symbolic links, except the files of a download in progress. A
/// device or socket is never replaced by a file.
enum Replaceable {
    static func allows(
        _ path: FilePath, _ status: FileStatus, fileSystem: any FileSystem
    ) throws(FileError) -> Bool {
        guard status.kind == .regular || status.kind == .symbolicLink, let name = path.lastComponent?.string else {
            return false
        }
        // `a.part` may be a user's file, or the part file of `a`, which is recognized by its mode or journal.
        if status.kind == .regular, status.mode & 0o7000 == PartFile.mode & 0o7000 { return false }
        if let stem = name.dropping(suffix: DownloadPaths.partSuffix), !stem.isEmpty,
            let journal = DownloadPaths(of: path)?.journal, try fileSystem.exists(journal)
        {
            return false
        }
        return ReservedName.record(name) != .journal
    }
}
