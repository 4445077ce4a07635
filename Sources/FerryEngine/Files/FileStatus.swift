package import FerryCore

/// The status of a file, as `stat` returns it.
package struct FileStatus: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case regular, directory, symbolicLink, other
    }

    package var device: UInt64
    package var inode: UInt64
    package var length: ByteCount
    /// The allocated space; less than `length` for a file with holes.
    package var allocatedBytes: ByteCount
    /// The permission bits, `07777`.
    package var mode: UInt16
    /// The owning user and group.
    package var owner: UInt32
    package var group: UInt32
    package var modified: FileTime
    package var linkCount: UInt64
    package var kind: Kind
    /// The creation time, which distinguishes the file from an earlier one with the same inode number. `nil` if the
    /// file system does not record it, or if the status was taken by path instead of from an open file.
    package var created: FileTime?

    package init(
        device: UInt64, inode: UInt64, length: ByteCount, allocatedBytes: ByteCount, mode: UInt16, owner: UInt32,
        group: UInt32, modified: FileTime, linkCount: UInt64, kind: Kind, created: FileTime? = nil
    ) {
        self.device = device
        self.inode = inode
        self.length = length
        self.allocatedBytes = allocatedBytes
        self.mode = mode
        self.owner = owner
        self.group = group
        self.modified = modified
        self.linkCount = linkCount
        self.kind = kind
        self.created = created
    }

    /// Returns whether both statuses are of the same file, regardless of its name.
    package func isSameFile(as other: FileStatus) -> Bool {
        device == other.device && inode == other.inode
    }
}
