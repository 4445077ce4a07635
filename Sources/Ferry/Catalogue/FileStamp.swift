import FerryEngine

/// The identity of a file at one time; the contents are unchanged as long as all fields are.
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

    init(_ file: PublishedFile) {
        let (whole, overflows) = file.modified.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (time, overflowsToo) = whole.addingReportingOverflow(Int64(file.modified.nanoseconds))
        self.init(
            device: file.device, inode: file.inode, length: file.length,
            modificationTime: overflows || overflowsToo ? .max : time)
    }
}
