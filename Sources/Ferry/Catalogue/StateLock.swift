import FerryCore
import FerryEngine
import SystemPackage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The lock on a state directory: a lock file that only one open file description at a time can lock, across all processes.
///
/// The system releases the lock when the process ends, for any reason. The file remains; it contains the owner's process
/// identifier.
final class StateLock: Sendable {
    private let file: any File

    private init(_ file: any File) { self.file = file }

    /// Acquires the lock; throws at once if it is held, by another process or by this one.
    static func take(_ path: FilePath, _ fileSystem: any FileSystem) throws -> StateLock {
        // The file may be removed between open and lock; then the lock would not exclude other processes.
        var attempts = 0
        while true {
            let file = try open(path, fileSystem)
            guard try file.tryLock() else { throw isTaken(by: owner(file), path) }
            let (mine, named) = (try file.status(), try fileSystem.statusIfPresent(path))
            guard let named, named.isSameFile(as: mine) else {
                attempts += 1
                guard attempts < 50 else { throw FileError(.lock, path, kind: .notFound) }
                continue
            }
            try file.truncate(to: 0)
            try file.write(Array("\(ProcessInfo.processInfo.processIdentifier)\n".utf8), at: 0)
            return StateLock(file)
        }
    }

    /// Releases the lock, as does deinit.
    func release() { file.close() }

    deinit { release() }

    private static func open(_ path: FilePath, _ fileSystem: any FileSystem) throws -> any File {
        do throws(FileError) {
            return try fileSystem.create(path, mode: 0o600)
        } catch  where error.kind == .exists {
            return try fileSystem.open(path, .readWrite)
        }
    }

    /// The process identifier in the file; `nil` until the owner has written it.
    private static func owner(_ file: any File) -> Int32? {
        guard let length = try? file.status().length,
            let bytes = try? file.read(0..<min(length, 32))
        else { return nil }
        return Int32(String(decoding: bytes, as: UTF8.self).prefix { !$0.isNewline })
    }

    private static func isTaken(by owner: Int32?, _ path: FilePath) -> DownloadError {
        let directory = path.removingLastComponent().string
        let taken =
            if owner == ProcessInfo.processInfo.processIdentifier {
                ErrorPhrase(.openHere, directory)
            } else if let owner {
                ErrorPhrase(.openInProcess, directory, "\(owner)")
            } else {
                ErrorPhrase(.openElsewhere, directory)
            }
        return DownloadError(
            .catalogue, taken, suggestion: ErrorPhrase(.closeFirst), recovery: .needsUser)
    }
}
