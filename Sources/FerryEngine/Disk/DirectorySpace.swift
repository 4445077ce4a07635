package import FerryCore
package import SystemPackage

/// Whether there is room where a file is to go, with something left over for everybody else (A29, B3).
package struct DirectorySpace: Sendable {
    package enum Verdict: Sendable, Hashable {
        case enough
        /// There are `free` bytes; `missing` more are needed to hold the file and keep the floor.
        case short(free: ByteCount, missing: ByteCount)
    }

    private let directory: FilePath
    private let floor: ByteCount
    private let fileSystem: any FileSystem

    /// `floor`: the free bytes that must stay (`--min-free`).
    package init(_ directory: FilePath, floor: ByteCount, fileSystem: any FileSystem) {
        self.directory = directory
        self.floor = max(floor, 0)
        self.fileSystem = fileSystem
    }

    /// The bytes that this user may still write there.
    package func free() throws(FileError) -> ByteCount {
        try fileSystem.freeBytes(at: directory.isEmpty ? "." : directory)
    }

    /// Whether `needed` more bytes fit; what a part file has reserved already is not needed again.
    package func check(needed: ByteCount) throws(FileError) -> Verdict {
        let free = try free()
        let (wanted, overflows) = max(needed, 0).addingReportingOverflow(floor)
        if overflows { return .short(free: free, missing: .max) }
        return wanted <= free ? .enough : .short(free: free, missing: wanted - free)
    }
}
