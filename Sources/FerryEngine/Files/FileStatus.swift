package import FerryCore

/// What the system says about a file.
package struct FileStatus: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case regular, directory, symbolicLink, other
    }

    package var device: UInt64
    package var inode: UInt64
    package var length: ByteCount
    /// What it takes on the disk; less than `length` when there are holes.
    package var allocatedBytes: ByteCount
    /// The permission bits, `07777`.
    package var mode: UInt16
    /// The user that it belongs to, and the group.
    package var owner: UInt32
    package var group: UInt32
    package var modified: FileTime
    package var linkCount: UInt64
    package var kind: Kind
    /// When the file was made, which tells it from an earlier one under the same inode number; `nil` where the file system does
    /// not say, or was not asked: only an open file is.
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

    /// Whether both are one file, whatever it is called.
    package func isSameFile(as other: FileStatus) -> Bool {
        device == other.device && inode == other.inode
    }
}
