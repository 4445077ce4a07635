import FerryCore
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

// A checked path may lead elsewhere by the time it is used. A confined file system therefore opens the path's
// directory for each call, below the root and without following symbolic links, and makes the call relative to that
// descriptor. Whatever is renamed or replaced meanwhile, the call cannot reach anything outside the root.
extension LocalFileSystem {
    /// Calls `body` with a directory descriptor and a path relative to it; a single name if this file system is
    /// confined.
    func at<Value>(
        _ operation: FileError.Operation, _ path: FilePath,
        _ body: (_ directory: Int32, _ name: FilePath) throws(FileError) -> Value
    ) throws(FileError) -> Value {
        guard let root, let rest = try Self.rest(of: path, below: root, operation),
            let name = rest.lastComponent
        else { return try body(AT_FDCWD, path) }
        let directory = try Self.open(rest.removingLastComponent(), below: root, operation, path)
        defer { _ = Self.closeDescriptor(directory) }
        return try body(directory, FilePath(root: nil, [name]))
    }

    /// Returns the path relative to the root; `nil` for the root and its ancestors, which the user chose.
    private static func rest(
        of path: FilePath, below root: FilePath, _ operation: FileError.Operation
    ) throws(FileError) -> FilePath? {
        var rest = path.lexicallyNormalized()
        if root.starts(with: rest) { return nil }
        guard rest.removePrefix(root) else { throw FileError(operation, path, kind: .confined) }
        return rest
    }

    private static func open(
        _ rest: FilePath, below root: FilePath, _ operation: FileError.Operation, _ path: FilePath
    ) throws(FileError) -> Int32 {
        // The root may itself be a symbolic link, because the user chose it.
        let base = root.withPlatformString { name in
            retrying { openat(AT_FDCWD, name, pathOnly | O_DIRECTORY | O_CLOEXEC) }
        }
        guard base >= 0 else { throw FileError(operation, path, errno: errno) }
        defer { _ = closeDescriptor(base) }
        let directory = openDirectory(rest.isEmpty ? "." : rest, beneath: base)
        let failure = errno
        guard directory >= 0 else {
            throw failure == ELOOP || failure == EXDEV
                ? FileError(operation, path, kind: .confined) : FileError(operation, path, errno: failure)
        }
        return directory
    }
}
