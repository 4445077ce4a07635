package import FerryCore
package import SystemPackage

/// Compares the free space of a directory with the space that a file needs and a reserve that must remain free.
package struct DirectorySpace: Sendable {
    package enum Verdict: Sendable, Hashable {
        case enough
        case short(Shortage)
    }

    /// There are `free` bytes; `missing` more are needed to store the file and keep the `reserve`. For a file of unknown length,
    /// `missing` is a lower bound.
    package struct Shortage: Sendable, Hashable {
        package var directory: FilePath
        package var free: ByteCount
        package var missing: ByteCount
        package var isLeast = false
        package var reserve: ByteCount
    }

    /// The reserve on file systems of 25.6 GB and more; 1 % of smaller ones.
    package static let mostReserve: ByteCount = 256_000_000

    private let directory: FilePath
    private let reserve: ByteCount?
    private let fileSystem: any FileSystem

    /// `reserve`: the number of free bytes that must remain (`--min-free`); `nil` for ``mostReserve`` or 1 %.
    package init(_ directory: FilePath, reserve: ByteCount?, fileSystem: any FileSystem) {
        self.directory = directory.isEmpty ? "." : directory
        self.reserve = reserve.map { max($0, 0) }
        self.fileSystem = fileSystem
    }

    /// Returns the number of bytes that this user can still write to the file system, and how many of them must remain free.
    package func measure() throws(FileError) -> (free: ByteCount, reserve: ByteCount) {
        let space = try fileSystem.space(at: directory)
        return (space.freeBytes, reserve ?? min(Self.mostReserve, space.totalBytes / 100))
    }

    /// Returns whether `needed` more bytes fit. Pass `nil` if the number is unknown. Do not count bytes that a part file has
    /// already reserved.
    package func check(needed: ByteCount?) throws(FileError) -> Verdict {
        let (free, reserve) = try measure()
        let (wanted, overflows) = max(needed ?? 0, 0).addingReportingOverflow(reserve)
        if !overflows, wanted <= free { return .enough }
        let missing = overflows ? .max : wanted - free
        return .short(
            Shortage(directory: directory, free: free, missing: missing, isLeast: needed == nil, reserve: reserve))
    }

    /// Throws `diskFull`, with the reserve and the option that changes it, if `needed` more bytes do not fit.
    package func require(_ needed: ByteCount?) throws(DownloadError) {
        let verdict: Verdict
        do throws(FileError) { verdict = try check(needed: needed) } catch { throw DownloadError(error) }
        if case .short(let shortage) = verdict { throw DownloadError(shortage) }
    }
}

extension DownloadError {
    package init(_ shortage: DirectorySpace.Shortage) {
        let directory = "\(shortage.directory)"
        let (free, reserve) = (ByteText.size(shortage.free), ByteText.size(shortage.reserve))
        let missing = ByteText.size(shortage.missing)
        let least: any ReasonConvertible = shortage.isLeast ? ErrorPhrase(.atLeast, missing) : missing
        self.init(
            .diskFull,
            shortage.reserve > 0
                ? ErrorPhrase(.noSpaceBesideReserve, directory, free, least, reserve)
                : ErrorPhrase(.noSpace, directory, free, least),
            // Suggested only if the file would fit without the reserve.
            suggestion: shortage.missing <= shortage.reserve ? ErrorPhrase(.minFree) : nil, recovery: .needsUser)
    }
}
