package import FerryCore

/// A file as it was at one time: what has all of this now is taken to be that file, unchanged.
package struct FileMark: Sendable, Hashable {
    package var device: UInt64
    package var inode: UInt64
    package var length: ByteCount
    package var modified: FileTime

    package init(device: UInt64, inode: UInt64, length: ByteCount, modified: FileTime) {
        self.device = device
        self.inode = inode
        self.length = length
        self.modified = modified
    }

    package init(_ status: FileStatus) {
        self.init(device: status.device, inode: status.inode, length: status.length, modified: status.modified)
    }

    /// Whether this is that file.
    package func fits(_ status: FileStatus) -> Bool { status.kind == .regular && FileMark(status) == self }
}
