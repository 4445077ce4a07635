package import FerryEngine

/// A file as it was at one time: as long as all of it is the same, so are its bytes.
package struct FileStamp: Sendable, Hashable, Codable {
    package var device: UInt64
    package var inode: UInt64
    package var length: ByteCount
    /// Nanoseconds since 1970.
    package var modificationTime: Int64

    package init(device: UInt64, inode: UInt64, length: ByteCount, modificationTime: Int64) {
        self.device = device
        self.inode = inode
        self.length = length
        self.modificationTime = modificationTime
    }

    /// What the system says about a file.
    package init(_ status: FileStatus) {
        let (whole, overflows) = status.modified.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (time, overflowsToo) = whole.addingReportingOverflow(Int64(status.modified.nanoseconds))
        self.init(
            device: status.device, inode: status.inode, length: status.length,
            modificationTime: overflows || overflowsToo ? .max : time)
    }
}
