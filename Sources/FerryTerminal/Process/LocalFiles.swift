import FerryCore
import Foundation

/// The file system access of ``PlanningWorld/system``.
enum LocalFiles {
    /// The maximum size of a list, header, cookie or netrc file, in bytes.
    private static let largestText = 256_000_000

    /// Reads a whole file, or standard input for `-`. Invalid UTF-8 is replaced.
    static func text(of path: String) throws(UsageError) -> String {
        let descriptor = path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw UsageError(String(cString: strerror(errno))) }
        defer { if path != "-" { close(descriptor) } }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count == 0 { break }
            if count < 0 {
                if errno == EINTR { continue }
                throw UsageError(String(cString: strerror(errno)))
            }
            guard bytes.count + count <= largestText else { throw UsageError("it is larger than 256 MB") }
            bytes.append(contentsOf: buffer[..<count])
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func kind(of path: String) -> PlanningWorld.PathKind {
        var status = stat()
        guard stat(path, &status) == 0 else { return .missing }
        return status.st_mode & S_IFMT == S_IFDIR ? .directory : .file
    }

    /// Creates the directory and its parents if missing, and checks that it is writable.
    static func prepareDirectory(_ path: String) throws(UsageError) {
        func refused(_ reason: Int32) -> UsageError {
            UsageError("cannot write to directory \(path): \(String(cString: strerror(reason)))")
        }
        switch kind(of: path) {
        case .directory: break
        case .file: throw refused(ENOTDIR)
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
