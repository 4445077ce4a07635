import FerryCore
import NIOCore
import Synchronization
import SystemPackage

/// The storage of one download's bytes: none yet, memory (small files), a part file with its journal, or a stream.
///
/// Connections write to disjoint ranges and may do so concurrently. The storage's lock is the innermost: no other
/// lock is taken under it.
final class Storage: Sendable {
    /// A part file and its journal, both locked by this process; only file threads can use them.
    struct Pair: Sendable {
        let paths: DownloadPaths
        private let files: (part: PartFile, journal: Journal)

        init(paths: DownloadPaths, part: PartFile, journal: Journal) {
            self.paths = paths
            files = (part, journal)
        }

        /// The device and the inode number of the part file.
        var inode: (UInt64, UInt64) { (files.part.device, files.part.inode) }
        func part(_ disk: Disk) -> PartFile { files.part }
        func journal(_ disk: Disk) -> Journal { files.journal }
        func hasSamePart(as other: Pair) -> Bool { files.part === other.files.part }

        /// Closes the files, which releases their locks; deletes nothing.
        func close(_ disk: Disk) {
            files.journal.close()
            files.part.close()
        }

        /// Removes both files. The journal is removed last: a part file without one would block its name permanently.
        func remove(from index: JournalIndex?, _ disk: Disk) throws(DownloadError) {
            do throws(FileError) { try files.part.remove() } catch { throw DownloadError(error) }
            do throws(JournalError) { try files.journal.remove() } catch { throw DownloadError(error) }
            index?.remove(paths.journal)
        }

        /// Moves both files to the backup, and returns it; they stay open. If the present backup does not belong to
        /// `owner`, nothing is moved, and there is no backup of this download.
        func setAside(
            for owner: BackupPair.Owner, syncs: Bool, from index: JournalIndex?, _ disk: Disk
        ) throws(DownloadError) -> Prepared.Backup {
            let aside = BackupPair(paths, fileSystem: disk.fileSystem, syncs: syncs)
            do throws(FileError) {
                guard try aside.isFree(for: owner) else { return .none }
                try aside.move()
            } catch { throw DownloadError(error) }
            index?.remove(paths.journal)
            let old = try? Journal.read(at: paths.oldJournal, fileSystem: disk.fileSystem)
            return .own(paths, id: old?.id)
        }
    }

    /// A small file that is not on disk yet.
    struct Small: Sendable {
        let name: String
        let directory: FilePath
        private(set) var bytes: [UInt8] = []
        /// The number of writes so far.
        private(set) var writes = 0

        init(name: String, directory: FilePath, reserve: Int) {
            (self.name, self.directory) = (name, directory)
            bytes.reserveCapacity(reserve)
        }

        mutating func write(_ new: UnsafeRawBufferPointer, at offset: Int) {
            writes += 1
            if bytes.count == offset { return bytes.append(contentsOf: new) }
            let end = offset + new.count
            if bytes.count < end { bytes.append(contentsOf: [UInt8](repeating: 0, count: end - bytes.count)) }
            bytes.withUnsafeMutableBytes { buffer in
                UnsafeMutableRawBufferPointer(rebasing: buffer[offset..<end]).copyMemory(from: new)
            }
        }
    }

    enum Place: Sendable {
        case none
        case small(Small)
        case pair(Pair)
        case stream(OutputStream)
    }

    private let place = Mutex(Place.none)

    var current: Place { place.withLock { $0 } }

    var pair: Pair? {
        if case .pair(let pair) = current { pair } else { nil }
    }

    func set(_ new: Place) { place.withLock { $0 = new } }

    /// Writes a part of `piece` at the offset. Returns `false`, without any change, if that needs a disk and there is
    /// none.
    func write(_ piece: ByteBuffer, _ part: Range<Int>, at offset: ByteCount, _ disk: Disk?) throws(FileError) -> Bool {
        // `withUnsafeReadableBytes` does not propagate typed errors, so pass the error out as a `Result`.
        let result: Result<Bool, FileError> = piece.withUnsafeReadableBytes { bytes in
            let bytes = UnsafeRawBufferPointer(rebasing: bytes[part])
            do throws(FileError) { return .success(try write(bytes, at: offset, disk)) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func write(_ bytes: UnsafeRawBufferPointer, at offset: ByteCount, _ disk: Disk?) throws(FileError) -> Bool {
        let target: Place? = place.withLock { place in
            guard case .small(var small) = place else { return place }
            // Remove the payload during the change, so that the array is not copied.
            place = .none
            small.write(bytes, at: Int(offset))
            place = .small(small)
            return nil
        }
        switch target {
        case nil: return true
        case .small?, Place.none?: throw FileError(.write, "a file that has no place yet", kind: .closed)
        case .pair(let pair)?:
            guard let disk else { return false }
            try pair.part(disk).write(bytes, at: offset)
        case .stream(let stream)?:
            guard let disk else { return false }
            try stream.write(bytes, disk)
        }
        return true
    }

    /// Replaces the small file by a pair, to which all of its bytes have been written. Bytes that arrive meanwhile go
    /// to memory, and are written then.
    func spill(to pair: Pair, _ disk: Disk) throws(FileError) {
        var written: Int?
        while true {
            let small: Small? = place.withLock { place in
                guard case .small(let small) = place else { return nil }
                if small.writes == written { place = .pair(pair) }
                return small.writes == written ? nil : small
            }
            guard let small else { return }
            try pair.part(disk).write(small.bytes, at: 0)
            written = small.writes
        }
    }

    /// Returns bytes that were written, for samples and digests; `nil` if they cannot be read.
    func read(_ range: Range<ByteCount>, _ disk: Disk) -> [UInt8]? {
        switch current {
        case .pair(let pair): return try? pair.part(disk).read(range)
        case .small(let small):
            guard range.upperBound <= small.bytes.count else { return nil }
            return Array(small.bytes[Int(range.lowerBound)..<Int(range.upperBound)])
        case .none, .stream: return nil
        }
    }

    /// Closes files and locks; deletes nothing.
    func close(_ disk: Disk) {
        let last = place.withLock { place in
            defer { place = .none }
            return place
        }
        if case .pair(let pair) = last { pair.close(disk) }
    }
}

/// A file descriptor that receives the file in order, with a running digest of the output.
final class OutputStream: Sendable {
    private let descriptor: Int32
    private let digest = Mutex<RunningDigest?>(nil)

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Starts the digest; `nil` for none. Must be called before the first write.
    func follow(_ algorithm: DigestAlgorithm?) { digest.withLock { $0 = algorithm.map { RunningDigest($0) } } }

    func write(_ bytes: UnsafeRawBufferPointer, _ disk: Disk) throws(FileError) {
        do {
            try SystemPackage.FileDescriptor(rawValue: descriptor).writeAll(bytes)
        } catch let error as Errno {
            throw FileError(.write, "the output", errno: error.rawValue)
        } catch { throw FileError(.write, "the output", kind: .io) }
        digest.withLock { $0?.update(bytes) }
    }

    /// Returns the digest of all written bytes, or `nil` if none was requested.
    func finish() -> [UInt8]? { digest.withLock { $0?.finish() } }
}
