// CFerry's header declares `stat` too; which module the compiler finds it in depends on the load order.
import CFerry
import FerryCore
import Synchronization
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// An open file of the local system.
final class LocalFile: File {
    let path: FilePath
    private let descriptor: Int32
    /// Twice the number of calls in progress, plus 1 when closed. The descriptor is closed when this becomes exactly
    /// 1: closing it during a write could direct the write to another file that reuses the number.
    private let uses = Atomic<Int>(0)
    private let isLocked = Atomic(false)

    init(descriptor: Int32, path: FilePath) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close() }

    func close() {
        let before = uses.bitwiseOr(1, ordering: .acquiringAndReleasing).oldValue
        if before == 0 { giveBack() }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: ByteCount) throws(FileError) {
        try use(.write) { descriptor throws(FileError) in
            var done = 0
            while done < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
                let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
                if count > 0 {
                    done += count
                } else if count == 0 {
                    // POSIX does not allow this for regular files; a retry could loop forever.
                    throw FileError(.write, path, errno: EIO)
                } else if errno != EINTR {
                    throw FileError(.write, path, errno: errno)
                }
            }
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: ByteCount) throws(FileError) -> Int {
        try use(.read) { descriptor throws(FileError) in
            var done = 0
            while done < buffer.count {
                let (position, overflows) = offset.addingReportingOverflow(ByteCount(done))
                if overflows { break }
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
                let count = pread(descriptor, rest.baseAddress, rest.count, off_t(position))
                if count > 0 {
                    done += count
                } else if count == 0 {
                    break
                } else if errno != EINTR {
                    throw FileError(.read, path, errno: errno)
                }
            }
            return done
        }
    }

    // Never retried, not even after EINTR: after a failed sync the state of the data is unknown.
    func dataSync() throws(FileError) { try call(.sync) { LocalFileSystem.dataSync($0) } }

    func sync() throws(FileError) { try call(.sync) { LocalFileSystem.fullSync($0) } }

    func truncate(to length: ByteCount) throws(FileError) {
        try call(.truncate) { descriptor in retrying { ftruncate(descriptor, off_t(length)) } }
    }

    func allocate(length: ByteCount) throws(FileError) -> Bool {
        guard length > 0 else { return true }
        let before = try status()
        do throws(FileError) {
            try call(.allocate) { descriptor in retrying { LocalFileSystem.allocate(descriptor, length) } }
            return true
        } catch  where error.kind == .unsupported || error.kind == .other(EINVAL) || error.kind == .other(ENODEV) {
            return false
        } catch {
            // Release the blocks that were allocated before the space ran out.
            if before.length < length { try? truncate(to: before.length) }
            throw error
        }
    }

    func tryLock() throws(FileError) -> Bool {
        do throws(FileError) {
            try call(.lock) { descriptor in retrying { flock(descriptor, LOCK_EX | LOCK_NB) } }
            isLocked.store(true, ordering: .relaxed)
            return true
        } catch  where error.kind == .other(EWOULDBLOCK) {
            return false
        } catch  where error.kind == .other(ENOLCK) || error.kind == .other(EINVAL) {
            throw FileError(.lock, path, kind: .unsupported)
        }
    }

    func status() throws(FileError) -> FileStatus {
        try use(.inspect) { descriptor throws(FileError) in
            var raw = stat()
            guard fstat(descriptor, &raw) == 0 else { throw FileError(.inspect, path, errno: errno) }
            var status = FileStatus(raw)
            status.created = LocalFileSystem.creationTime(descriptor, raw)
            if LocalFileSystem.isAmbiguous(status), !LocalFileSystem.isProvenOwn(descriptor) {
                status.owner = FileStatus.unknownOwner
            }
            return status
        }
    }

    func setMode(_ mode: UInt16) throws(FileError) {
        try call(.setMode) { descriptor in retrying { fchmod(descriptor, mode_t(mode & 0o7777)) } }
    }

    func setModificationTime(_ time: FileTime) throws(FileError) {
        try call(.setTime) { descriptor in
            var times = [LocalFileSystem.unchangedTime, timespec(time)]
            return futimens(descriptor, &times)
        }
    }

    func setAttribute(_ name: String, _ value: [UInt8]) throws(FileError) {
        try call(.setAttribute) { LocalFileSystem.setAttribute($0, name, value) }
    }

    func mark(as role: FileRole) {
        _ = try? use(.setAttribute) { descriptor throws(FileError) in LocalFileSystem.mark(descriptor, as: role) }
    }

    func attribute(_ name: String) throws(FileError) -> [UInt8]? {
        try use(.getAttribute) { descriptor throws(FileError) in
            try LocalFileSystem.attribute(path) { LocalFileSystem.getAttribute(descriptor, name, $0, $1) }
        }
    }

    /// Links an unnamed file into a directory under a free name.
    func link(
        to name: UnsafePointer<CInterop.PlatformChar>, in directory: Int32, path: FilePath
    ) throws(FileError) {
        let failure = try use(.link) { descriptor throws(FileError) in
            LocalFileSystem.linkUnnamed(descriptor, directory, name)
        }
        if failure != 0 { throw FileError(.link, path, errno: failure) }
    }

    /// Performs a system call that returns 0 or sets `errno`.
    private func call(_ operation: FileError.Operation, _ body: (Int32) -> Int32) throws(FileError) {
        try use(operation) { descriptor throws(FileError) in
            if body(descriptor) != 0 { throw FileError(operation, path, errno: errno) }
        }
    }

    private func use<Result>(
        _ operation: FileError.Operation, _ body: (Int32) throws(FileError) -> Result
    ) throws(FileError) -> Result {
        var count = uses.load(ordering: .relaxed)
        while true {
            guard count & 1 == 0 else { throw FileError(operation, path, kind: .closed) }
            let (done, now) = uses.weakCompareExchange(
                expected: count, desired: count + 2, ordering: .acquiringAndReleasing)
            if done { break }
            count = now
        }
        defer {
            if uses.subtract(2, ordering: .acquiringAndReleasing).newValue == 1 { giveBack() }
        }
        return try body(descriptor)
    }

    private func giveBack() {
        // The lock belongs to the open file description, which a child process being spawned shares for a moment.
        // Unlock explicitly, or reopening the file could find it locked.
        if isLocked.load(ordering: .relaxed) { _ = flock(descriptor, LOCK_UN) }
        // Linux frees the number even if close fails, so close is never repeated.
        _ = LocalFileSystem.closeDescriptor(descriptor)
    }
}

/// Repeats a call that a signal interrupted.
func retrying(_ call: () -> Int32) -> Int32 {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}

extension timespec {
    init(_ time: FileTime) {
        self.init()
        tv_sec = time_t(time.seconds)
        tv_nsec = Int(time.nanoseconds)
    }
}

/// The names of unfinished files of other programs: `NAME.part` (Firefox), `NAME.crdownload` (Chrome), and `NAME` itself (curl,
/// wget).
enum HalfFile {
    static let suffixes = [DownloadPaths.partSuffix, ReservedName.chromePart.text]

    /// The possible paths of unfinished files of a download.
    static func paths(of paths: DownloadPaths) -> [FilePath] {
        [paths.final] + suffixes.map { paths.directory.appending(paths.name + $0) }
    }

    /// Returns the name of the finished file.
    static func name(_ path: FilePath) -> String {
        let last = path.lastComponent?.string ?? ""
        for suffix in suffixes {
            if let stem = last.dropping(suffix: suffix), !stem.isEmpty { return String(stem) }
        }
        return last
    }
}
