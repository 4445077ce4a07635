package import FerryCore
import Synchronization
package import SystemPackage

/// The partial content of a download at its final offsets, in a file that is locked for the lifetime of this object.
///
/// The lock belongs to the open file. The path may lead to another file between opening and locking, so the lock counts only if the
/// path still leads to the locked file.
package final class PartFile: Sendable {
    /// The mode of a new part file: access for the owner only, because any user who can open a file can lock it; and
    /// the sticky bit, which has no effect on files and identifies a part file before its journal exists.
    ///
    /// Publishing sets the final mode. Apple's systems create no file with the sticky bit, so it is set afterwards. On file systems
    /// without this bit, a part file that a crash left before its first journal blocks its name.
    package static let mode: UInt16 = 0o1600

    package let path: FilePath
    package let device: UInt64
    package let inode: UInt64
    /// The creation time; `nil` if the file system does not record it.
    package let created: FileTime?
    package let file: any File
    /// `false` if the file system does not support locks, so that other processes are not excluded.
    package let isLocked: Bool
    private let modeWhenLocked: UInt16
    private let fileSystem: any FileSystem
    /// The number of leading bytes with allocated blocks, which only a truncation frees; 0 if unknown.
    private let reserved = Atomic<ByteCount>(0)

    private init(path: FilePath, _ locked: LockedFile, fileSystem: any FileSystem) {
        let status = locked.status
        self.path = path
        self.file = locked.file
        self.device = status.device
        self.inode = status.inode
        self.created = status.created
        self.isLocked = locked.isLocked
        self.modeWhenLocked = status.mode
        self.fileSystem = fileSystem
        if status.allocatedBytes >= status.length { reserved.store(status.length, ordering: .relaxed) }
    }

    /// Creates and locks a part file; throws ``PartFileError/exists(_:)`` if the path exists.
    package static func create(at path: FilePath, fileSystem: any FileSystem) throws(PartFileError) -> PartFile {
        do throws(PartFileError) {
            let part = try lockOpened(at: path, fileSystem: fileSystem) { () throws(FileError) in
                let file = try fileSystem.create(path, mode: mode)
                file.mark(as: .unfinished)
                return file
            }
            if part.modeWhenLocked != mode { try? part.file.setMode(mode) }
            return part
        } catch {
            switch error {
            case .file(let error) where error.operation == .create && error.kind == .exists: throw .exists(path)
            // Another taker adopted the new file before it was locked.
            case .locked: throw .exists(path)
            default: throw error
            }
        }
    }

    /// Opens and locks an existing part file that passes the ownership check.
    package static func open(_ path: FilePath, fileSystem: any FileSystem) throws(PartFileError) -> PartFile {
        do throws(PartFileError) {
            return try lockOpened(at: path, fileSystem: fileSystem) { () throws(FileError) in
                try fileSystem.openOurs(path, .readWrite)
            }
        } catch {
            guard case .file(let failure) = error, failure.operation == .open else { throw error }
            if failure.kind == .notFound { throw .missing(path) }
            let status = try? fileSystem.statusIfPresent(path)
            throw status.map { $0.kind != .regular } == true ? .notAFile(path) : error
        }
    }

    private static func lockOpened(
        at path: FilePath, fileSystem: any FileSystem, _ open: () throws(FileError) -> any File
    ) throws(PartFileError) -> PartFile {
        let locked: LockedFile?
        do throws(FileError) { locked = try fileSystem.lockNamed(path, open) } catch {
            throw error.operation == .lock && error.kind == .exists ? .locked(path) : .file(error)
        }
        guard let locked else { throw .replaced(path) }
        guard locked.status.kind == .regular else {
            locked.file.close()
            throw .notAFile(path)
        }
        return PartFile(path: path, locked, fileSystem: fileSystem)
    }

    /// Sets the mode of a part file on an existing file, as far as the file system supports it.
    package func adopt() throws(FileError) {
        file.mark(as: .unfinished)
        do throws(FileError) { try file.setMode(Self.mode) } catch { try file.setMode(Self.mode & 0o777) }
    }

    package func length() throws(FileError) -> ByteCount { try file.status().length }

    /// Returns the space that the file already occupies on disk.
    package func allocatedBytes() throws(FileError) -> ByteCount { try file.status().allocatedBytes }

    /// Writes all of `bytes` at `offset`; may be called from several threads.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: ByteCount) throws(FileError) {
        try file.write(bytes, at: offset)
    }

    package func write(_ bytes: [UInt8], at offset: ByteCount) throws(FileError) {
        try file.write(bytes, at: offset)
    }

    /// Fills `buffer` from `offset`; returns fewer bytes only at the end of the file.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: ByteCount) throws(FileError) -> Int {
        try file.read(into: buffer, at: offset)
    }

    /// Returns exactly the bytes of `range`; throws ``FileError/Kind/endedEarly`` if the file is shorter.
    package func read(_ range: Range<ByteCount>) throws(FileError) -> [UInt8] {
        try file.read(range)
    }

    /// Syncs every write that returned before this call began.
    package func dataSync() throws(FileError) { try file.dataSync() }

    /// Allocates the blocks of the whole file; returns `false` if the file system cannot.
    ///
    /// Call it after the journal exists and before the first write. Leaves the file as it was if there is not enough
    /// space.
    package func preallocate(total: ByteCount) throws(FileError) -> Bool {
        guard try file.allocate(length: total) else { return false }
        // Some file systems report success without allocating anything.
        if try allocatedBytes() >= total { reserved.store(total, ordering: .relaxed) }
        return true
    }

    package func truncate(to length: ByteCount) throws(FileError) {
        reserved.store(min(reserved.load(ordering: .relaxed), length), ordering: .relaxed)
        try file.truncate(to: length)
    }

    /// Returns whether the path leads to this file, the file has at least `length` bytes, and it was not truncated.
    ///
    /// A write beyond the truncation restores the length with zeros in between; only the number of allocated blocks
    /// reveals that.
    package func isIntact(length: ByteCount) throws(FileError) -> Bool {
        guard try isNamed() else { return false }
        let (status, reserved) = (try file.status(), reserved.load(ordering: .relaxed))
        return status.length >= max(length, reserved) && status.allocatedBytes >= reserved
    }

    /// Returns whether the path still leads to this file.
    package func isNamed() throws(FileError) -> Bool {
        guard let named = try fileSystem.statusIfPresent(path) else { return false }
        return named.device == device && named.inode == inode
    }

    /// Closes the file, which releases the lock; idempotent.
    package func close() { file.close() }

    /// Removes the file if the path still leads to it, and closes it.
    package func remove() throws(FileError) {
        defer { close() }
        // allow(ours): the path leads to the part file that is open.
        if try isNamed() { try fileSystem.unlink(path) }
    }
}

/// The reason why a part file cannot be created or opened.
package enum PartFileError: Error, Sendable, Hashable {
    case missing(FilePath)
    case exists(FilePath)
    /// Another process, or another download of this one, has locked the file.
    case locked(FilePath)
    /// The path kept leading to different files during the attempts to lock it.
    case replaced(FilePath)
    /// A directory, a pipe, or a symbolic link.
    case notAFile(FilePath)
    case file(FileError)

    /// The failed ownership check; `nil` for all other reasons.
    package var flaw: Ownership.Flaw? {
        if case .file(let error) = self, case .notOurs(let flaw) = error.kind { flaw } else { nil }
    }

    /// The message in English, one line: what failed, on which path.
    package var message: String { phrase.text(in: .english) }

    /// The localizable message.
    package var phrase: ErrorPhrase {
        switch self {
        case .missing(let path): ErrorPhrase(.missing, path.string)
        case .exists(let path): ErrorPhrase(.alreadyThere, path.string)
        // The user knows the final file, not the part file.
        case .locked(let path): ErrorPhrase(.inUse, (DownloadPaths(of: path)?.final ?? path).string)
        case .replaced(let path): ErrorPhrase(.replaced, path.string)
        case .notAFile(let path): ErrorPhrase(.notRegular, path.string)
        case .file(let error): error.phrase
        }
    }
}

extension PartFileError: CustomStringConvertible {
    package var description: String { message }
}
