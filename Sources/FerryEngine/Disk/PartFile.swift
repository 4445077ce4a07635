package import FerryCore
import Synchronization
package import SystemPackage

/// The bytes of a download so far, at their final offsets, in a file that is locked while this lives.
///
/// The lock goes with the open file, and a name may come to mean another file between opening and locking:
/// so what is locked counts only when the path still leads to it (B8).
package final class PartFile: Sendable {
    /// The mode of a new part file: its owner alone, since a lock can be held by whoever can open the file; and the
    /// sticky bit, which means nothing on files and tells ours from others before there is a journal.
    ///
    /// Publishing sets the final mode.
    package static let mode: UInt16 = 0o1600

    package let path: FilePath
    package let device: UInt64
    package let inode: UInt64
    /// When it was made; `nil` where the file system does not say.
    package let created: FileTime?
    package let file: any File
    /// `false` where the file system has no locks; then nothing keeps a second process away.
    package let isLocked: Bool
    private let fileSystem: any FileSystem
    /// So many bytes have their blocks, and keep them while nobody cuts the file; 0 where that is not known.
    private let reserved = Atomic<ByteCount>(0)

    private init(path: FilePath, file: any File, status: FileStatus, isLocked: Bool, fileSystem: any FileSystem) {
        self.path = path
        self.file = file
        self.device = status.device
        self.inode = status.inode
        self.created = status.created
        self.isLocked = isLocked
        self.fileSystem = fileSystem
        if status.allocatedBytes >= status.length { reserved.store(status.length, ordering: .relaxed) }
    }

    /// Makes and locks a part file that was not there; ``PartFileError/exists(_:)`` otherwise.
    package static func create(at path: FilePath, fileSystem: any FileSystem) throws(PartFileError) -> PartFile {
        do throws(PartFileError) {
            return try lockOpened(at: path, fileSystem: fileSystem) { () throws(FileError) in
                try fileSystem.create(path, mode: mode)
            }
        } catch {
            switch error {
            case .file(let error) where error.operation == .create && error.kind == .exists: throw .exists(path)
            // Somebody found it without a journal in this instant and took it over: it is theirs.
            case .locked: throw .exists(path)
            default: throw error
            }
        }
    }

    /// Opens and locks a part file that is there and ours.
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

    /// Opens and locks until what is locked is what the path leads to.
    private static func lockOpened(
        at path: FilePath, fileSystem: any FileSystem, _ open: () throws(FileError) -> any File
    ) throws(PartFileError) -> PartFile {
        // Each round lost is one that another taker or publisher won; a hundred in a row is no chance any more.
        for _ in 0..<100 {
            do throws(FileError) {
                let file = try open()
                var isLocked = true
                do throws(FileError) {
                    isLocked = try file.tryLock()
                    if !isLocked {
                        file.close()
                        throw FileError(.lock, path, kind: .exists)
                    }
                } catch  where error.kind == .unsupported {
                    isLocked = false
                }
                let status = try file.status()
                guard status.kind == .regular else { throw FileError(.lock, path, kind: .isDirectory) }
                if let named = try fileSystem.statusIfPresent(path), named.isSameFile(as: status) {
                    return PartFile(
                        path: path, file: file, status: status, isLocked: isLocked, fileSystem: fileSystem)
                }
                file.close()
            } catch {
                switch (error.operation, error.kind) {
                case (.lock, .exists): throw .locked(path)
                case (.lock, .isDirectory): throw .notAFile(path)
                default: throw .file(error)
                }
            }
        }
        throw .replaced(path)
    }

    package func length() throws(FileError) -> ByteCount { try file.status().length }

    /// What it takes on the disk: space that need not be free any more.
    package func allocatedBytes() throws(FileError) -> ByteCount { try file.status().allocatedBytes }

    /// Writes all of `bytes` at `offset`; may be called from several threads.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: ByteCount) throws(FileError) {
        try file.write(bytes, at: offset)
    }

    package func write(_ bytes: [UInt8], at offset: ByteCount) throws(FileError) {
        try file.write(bytes, at: offset)
    }

    /// Fills `buffer` from `offset`; gives less only where the file ends.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: ByteCount) throws(FileError) -> Int {
        try file.read(into: buffer, at: offset)
    }

    /// Exactly the bytes of `range`; ``FileError/Kind/endedEarly`` when the file is shorter.
    package func read(_ range: Range<ByteCount>) throws(FileError) -> [UInt8] {
        try file.read(range)
    }

    /// Brings to the disk every write that returned before this call began (C1).
    package func dataSync() throws(FileError) { try file.dataSync() }

    /// Reserves the blocks of the whole file; `false` where the file system cannot.
    ///
    /// Before writing begins, and after the journal is there. When there is no room, the file stays as it was.
    package func preallocate(total: ByteCount) throws(FileError) -> Bool {
        guard try file.allocate(length: total) else { return false }
        // Some say that they can, and reserve nothing.
        if try allocatedBytes() >= total { reserved.store(total, ordering: .relaxed) }
        return true
    }

    package func truncate(to length: ByteCount) throws(FileError) {
        reserved.store(min(reserved.load(ordering: .relaxed), length), ordering: .relaxed)
        try file.truncate(to: length)
    }

    /// Whether the path still leads to this file, it still is at least `length` bytes long, and nobody has cut it (B6).
    ///
    /// One that was cut has its length again as soon as something is written behind the cut, with zeros in between: the
    /// blocks that it had tell.
    package func isIntact(length: ByteCount) throws(FileError) -> Bool {
        guard try isNamed() else { return false }
        let (status, reserved) = (try file.status(), reserved.load(ordering: .relaxed))
        return status.length >= max(length, reserved) && status.allocatedBytes >= reserved
    }

    /// Whether the path still leads to this file.
    package func isNamed() throws(FileError) -> Bool {
        guard let named = try fileSystem.statusIfPresent(path) else { return false }
        return named.device == device && named.inode == inode
    }

    /// Gives the lock back; idempotent.
    package func close() { file.close() }

    /// Removes it, when the path still leads to it, and closes it.
    package func remove() throws(FileError) {
        defer { close() }
        // allow(ours): the path leads to the part file that is open.
        if try isNamed() { try fileSystem.unlink(path) }
    }
}
