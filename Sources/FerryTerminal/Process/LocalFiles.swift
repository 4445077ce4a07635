import Ferry
import FerryCore
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The file system access of ``PlanningWorld/system``.
enum LocalFiles {
    /// The maximum size of a header, cookie or netrc file, in bytes.
    private static let largestText = 16 << 20

    /// The maximum size of a list that can be read only once, in bytes.
    private static let largestCopy = 4 << 30

    /// Reads a whole file, or standard input for `-`. Invalid UTF-8 is replaced.
    static func text(of path: String) throws(UsageError) -> String {
        let input = try OpenFile(reading: path)
        var bytes: [UInt8] = []
        while true {
            let piece = try input.readOn()
            if piece.isEmpty { return String(decoding: bytes, as: UTF8.self) }
            guard bytes.count + piece.count <= largestText else { throw UsageError("it is larger than 16 MiB") }
            bytes += piece
        }
    }

    /// The size of a file; `nil` if it is missing.
    static func size(of path: String) -> ByteCount? {
        var status = stat()
        return stat(path, &status) == 0 ? ByteCount(status.st_size) : nil
    }

    /// Opens a list. If it can be read only once, such as a pipe, it is copied to an unlinked temporary file while it is
    /// read.
    static func openList(_ path: String) throws(UsageError) -> ListFile {
        let name = path == "-" ? "standard input" : path
        let file = try OpenFile(reading: path)
        // A shell can leave the offset of standard input in the middle of a file.
        let start = Int(lseek(file.descriptor, 0, SEEK_CUR))
        guard start >= 0, file.isRegular else {
            let copy = try PipeCopy(of: file)
            return ListFile(name: name, isPipe: true) { offset throws(UsageError) in try copy.read(at: offset) }
        }
        return ListFile(name: name, size: file.size.map { max(0, $0 - start) }) { offset throws(UsageError) in
            try file.read(at: start + offset)
        }
    }

    /// A copy of the bytes that were read from a pipe, so that they can be read again.
    private final class PipeCopy: Sendable {
        private struct State {
            var count = 0
            var isWhole = false
        }

        private let input: OpenFile
        private let copy: OpenFile
        private let state = Mutex(State())

        init(of input: OpenFile) throws(UsageError) {
            var template = Array((FileManager.default.temporaryDirectory.path + "/ferry-list-XXXXXX").utf8CString)
            copy = OpenFile(mkstemp(&template))
            self.input = input
            guard copy.descriptor >= 0 else { throw .system }
            guard unlink(template) == 0, fcntl(copy.descriptor, F_SETFD, FD_CLOEXEC) == 0 else { throw .system }
        }

        /// Reads some bytes at `offset`, waiting for them if necessary; returns none at the end.
        func read(at offset: Int) throws(UsageError) -> [UInt8] {
            try state.withLock { state throws(UsageError) in
                while state.count <= offset, !state.isWhole {
                    let piece = try input.readOn()
                    state.isWhole = piece.isEmpty
                    guard state.count + piece.count <= largestCopy else {
                        throw UsageError("it is larger than 4 GiB: write it to a file first")
                    }
                    guard StandardStreams.write(piece, to: copy.descriptor) else { throw .system }
                    state.count += piece.count
                }
            }
            return try copy.read(at: offset)
        }
    }

    /// An open descriptor; closed with the last reference unless it is standard input.
    private final class OpenFile: Sendable {
        let descriptor: Int32

        init(_ descriptor: Int32) { self.descriptor = descriptor }

        /// Opens a path; `-` means standard input.
        convenience init(reading path: String) throws(UsageError) {
            self.init(path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC))
            guard descriptor >= 0 else { throw .system }
        }

        var size: Int? {
            var status = stat()
            return fstat(descriptor, &status) == 0 ? Int(status.st_size) : nil
        }

        var isRegular: Bool {
            var status = stat()
            return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }

        deinit { if descriptor > 0 { close(descriptor) } }

        /// Reads some bytes at the current position; returns none at the end.
        func readOn() throws(UsageError) -> [UInt8] { try bytes { readBytes(descriptor, $0, $1) } }

        /// Reads some bytes at `offset`; returns none at the end.
        func read(at offset: Int) throws(UsageError) -> [UInt8] {
            try bytes { pread(descriptor, $0, $1, off_t(offset)) }
        }

        private func bytes(_ read: (UnsafeMutableRawPointer?, Int) -> Int) throws(UsageError) -> [UInt8] {
            while true {
                var result = 0
                let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
                    result = read(buffer.baseAddress, buffer.count)
                    count = max(0, result)
                }
                if result >= 0 { return bytes }
                if errno != EINTR { throw .system }
            }
        }
    }

    static func kind(of path: String) -> PlanningWorld.PathKind {
        var status = stat()
        guard stat(path, &status) == 0 else { return .missing }
        return switch status.st_mode & S_IFMT {
        case S_IFDIR: .directory
        case S_IFCHR, S_IFIFO: .stream
        default: .file
        }
    }

    /// Whether two paths refer to the same file.
    static func isSameFile(_ first: String, _ second: String) -> Bool {
        var (one, other) = (stat(), stat())
        return stat(first, &one) == 0 && stat(second, &other) == 0 && one.st_dev == other.st_dev
            && one.st_ino == other.st_ino
    }

    /// Opens a device or FIFO for writing; for a FIFO, waits for its reader.
    static func openStream(_ path: String) throws(UsageError) -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw UsageError("cannot write to \(path): \(UsageError.system.reason)") }
        return descriptor
    }

    /// Creates the directory and its parents if missing, and checks that it is writable.
    static func prepareDirectory(_ path: String) throws(UsageError) {
        func refused(_ reason: Int32) -> UsageError {
            // A path that cannot be a directory is a mistake in the command, not a failure of the disk.
            UsageError(
                "cannot write to directory \(path): \(String(cString: strerror(reason)))",
                code: reason == ENOTDIR ? .invalidRequest : .disk)
        }
        if !Paths.isAbsolute(path), WorkingDirectory.path.isEmpty {
            throw UsageError("the working directory no longer exists")
        }
        switch kind(of: path) {
        case .directory: break
        case .file, .stream: throw refused(ENOTDIR)
        case .missing:
            for prefix in prefixes(of: path) where kind(of: prefix) != .directory {
                if mkdir(prefix, 0o777) != 0, errno != EEXIST { throw refused(errno) }
            }
        }
        if access(path, W_OK | X_OK) != 0 { throw refused(errno) }
    }

    /// Returns `a`, `a/b`, `a/b/c` for `a/b/c`.
    private static func prefixes(of path: String) -> [String] {
        var prefixes: [String] = []
        var prefix = path.utf8.hasPrefix("/") ? "/" : ""
        for part in path.split(at: "/") {
            prefix += part
            prefixes.append(prefix)
            prefix += "/"
        }
        return prefixes
    }
}

// Needed because `OpenFile.read` hides the function.
private func readBytes(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, bytes, count)
}

extension UsageError {
    /// The system's last error.
    fileprivate static var system: UsageError { UsageError(.words(String(cString: strerror(errno)))) }
}
