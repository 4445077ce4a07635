package import FerryCore
import SystemPackage

/// A published file as it was then: whether the one that has its path now is the same, unchanged, can be seen by it.
package struct PublishedFile: Sendable, Hashable, Codable {
    /// Absolute.
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

    init(_ path: FilePath, _ status: FileStatus) {
        self.init(
            path: path.string, device: status.device, inode: status.inode, length: status.length,
            modified: status.modified)
    }

    /// The regular file that has this path now; `nil` when there is none. Blocks.
    package static func read(
        _ path: String, fileSystem: any FileSystem = LocalFileSystem()
    ) throws(DownloadError) -> PublishedFile? {
        do throws(FileError) {
            let path = FilePath(path)
            guard let status = try fileSystem.statusIfPresent(path), status.kind == .regular else { return nil }
            return PublishedFile(path, status)
        } catch { throw DownloadError(error) }
    }

    /// Whether the path still leads to this file, with the same length and time, and it is ours. Blocks.
    package func isUnchanged(
        for purpose: Ownership.Purpose = .removal, fileSystem: any FileSystem = LocalFileSystem()
    ) -> Bool {
        let path = FilePath(path)
        guard let status = try? fileSystem.statusIfPresent(path), PublishedFile(path, status) == self else {
            return false
        }
        return fileSystem.flaw(of: status, at: path, for: purpose) == nil
    }
}
