package import FerryCore
package import SystemPackage

/// Checks the free space of a directory against the need of a file and a floor that must remain free.
package struct DirectorySpace: Sendable {
    package enum Verdict: Sendable, Hashable {
        case enough
        /// There are `free` bytes; `missing` more are needed to hold the file and keep the floor.
        case short(free: ByteCount, missing: ByteCount)
    }

    private let directory: FilePath
    private let floor: ByteCount
    private let fileSystem: any FileSystem

    /// `floor`: the number of free bytes that must remain (`--min-free`).
    package init(_ directory: FilePath, floor: ByteCount, fileSystem: any FileSystem) {
        self.directory = directory
        self.floor = max(floor, 0)
        self.fileSystem = fileSystem
    }

    /// Returns the number of bytes that this user may still write to the file system.
    package func free() throws(FileError) -> ByteCount {
        try fileSystem.freeBytes(at: directory.isEmpty ? "." : directory)
    }

    /// Returns whether `needed` more bytes fit. Bytes that a part file has already reserved must not be counted.
    package func check(needed: ByteCount) throws(FileError) -> Verdict {
        let free = try free()
        let (wanted, overflows) = max(needed, 0).addingReportingOverflow(floor)
        if overflows { return .short(free: free, missing: .max) }
        return wanted <= free ? .enough : .short(free: free, missing: wanted - free)
    }
}
