// Its header declares `stat` too: in which of the two modules the compiler finds it depends on what it loads first.
import CFerry
package import FerryCore
package import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The file systems of this machine.
package struct LocalFileSystem: FileSystem {
    private let sharesWithGroup: Bool

    /// `sharesWithGroup`: as ``FileUser/sharesWithGroup``.
    package init(sharesWithGroup: Bool = false) { self.sharesWithGroup = sharesWithGroup }

    package func open(_ path: FilePath, _ access: FileAccess) throws(FileError) -> any File {
        // O_NONBLOCK: a pipe of that name must not hold us for ever; regular files do not care.
        let flags =
            switch access {
            case .readOnly: O_RDONLY | O_CLOEXEC | O_NONBLOCK
            case .readInPlace: O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW
            case .readWrite: O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW
            }
        return try file(.open, path, flags: flags, mode: 0)
    }

    package func create(_ path: FilePath, mode: UInt16) throws(FileError) -> any File {
        try file(.create, path, flags: O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode: mode)
    }

    package func openUnnamed(in directory: FilePath, mode: UInt16) throws(FileError) -> any File {
        guard let flags = Self.unnamedFlags else { throw FileError(.create, directory, kind: .unsupported) }
        do throws(FileError) {
            return try file(.create, directory, flags: flags | O_RDWR | O_CLOEXEC, mode: mode)
        } catch  where error.kind == .isDirectory || error.kind == .other(EINVAL) {
            // What file systems and kernels without it say.
            throw FileError(.create, directory, kind: .unsupported)
        }
    }

    package func link(_ file: any File, to path: FilePath) throws(FileError) {
        guard let file = file as? LocalFile else { throw FileError(.link, path, kind: .unsupported) }
        try file.link(to: path)
    }

    package func link(_ from: FilePath, to path: FilePath) throws(FileError) {
        try call(.link, path) { to in from.withPlatformString { Self.linkNames($0, to) } }
    }

    package func rename(_ from: FilePath, to path: FilePath, replacing: Bool) throws(FileError) {
        if replacing {
            return try call(.rename, from) { from in path.withPlatformString { systemRename(from, $0) } }
        }
        do throws(FileError) {
            try call(.rename, from) { from in path.withPlatformString { Self.renameWithoutReplacing(from, $0) } }
        } catch  where error.kind == .other(EINVAL) {
            throw FileError(.rename, from, kind: .unsupported)
        }
    }

    package func unlink(_ path: FilePath) throws(FileError) {
        try call(.remove, path) { systemUnlink($0) }
    }

    package func makeDirectory(_ path: FilePath) throws(FileError) {
        try call(.makeDirectory, path) { mkdir($0, 0o777) }
    }

    package func syncDirectory(_ path: FilePath) throws(FileError) {
        let file = try file(.syncDirectory, path, flags: O_RDONLY | O_DIRECTORY | O_CLOEXEC, mode: 0)
        defer { file.close() }
        do throws(FileError) {
            try file.sync()
        } catch  where error.kind == .other(EINVAL) || error.kind == .unsupported {
            throw FileError(.syncDirectory, path, kind: .unsupported)
        } catch {
            throw error.errno.map { FileError(.syncDirectory, path, errno: $0) } ?? error
        }
    }

    package func status(_ path: FilePath, followingLinks: Bool) throws(FileError) -> FileStatus {
        var raw = stat()
        try call(.inspect, path) { followingLinks ? stat($0, &raw) : lstat($0, &raw) }
        return FileStatus(raw)
    }

    package func list(_ directory: FilePath) throws(FileError) -> [String] {
        var failure: Int32 = 0
        let stream = directory.withPlatformString { path in
            let stream = opendir(path)
            failure = errno
            return stream
        }
        guard let stream else { throw FileError(.list, directory, errno: failure) }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            // The name goes on for as long as the system says, whatever length the C declaration has.
            let name = UnsafeRawPointer(entry).advanced(by: MemoryLayout<dirent>.offset(of: \.d_name) ?? 0)
            if let name = String(validatingCString: name.assumingMemoryBound(to: CChar.self)), name != ".", name != ".."
            {
                names.append(name)
            }
        }
        guard errno == 0 else { throw FileError(.list, directory, errno: errno) }
        return names
    }

    package func freeBytes(at path: FilePath) throws(FileError) -> ByteCount {
        var raw = statvfs()
        try call(.measureSpace, path) { statvfs($0, &raw) }
        let (bytes, overflows) = UInt64(raw.f_bavail).multipliedReportingOverflow(by: UInt64(raw.f_frsize))
        return overflows ? .max : ByteCount(clamping: bytes)
    }

    package func isWritable(_ directory: FilePath) -> Bool {
        directory.withPlatformString { access($0, W_OK | X_OK) } == 0
    }

    package var bootID: String? { Self.systemBootID() }

    package var user: FileUser {
        FileUser(user: UInt32(geteuid()), group: UInt32(getegid()), sharesWithGroup: sharesWithGroup)
    }

    package var creationMask: UInt16 { Self.systemCreationMask() }

    private func file(
        _ operation: FileError.Operation, _ path: FilePath, flags: Int32, mode: UInt16
    ) throws(FileError) -> LocalFile {
        var descriptor: Int32 = -1
        try call(operation, path) { name in
            descriptor = retrying { systemOpen(name, flags, mode_t(mode)) }
            return descriptor < 0 ? -1 : 0
        }
        return LocalFile(descriptor: descriptor, path: path)
    }

    /// One system call that gives 0 or sets `errno`.
    private func call(
        _ operation: FileError.Operation, _ path: FilePath, _ body: (UnsafePointer<CInterop.PlatformChar>) -> Int32
    ) throws(FileError) {
        // `errno` is read before anything else can change it.
        let failure = path.withPlatformString { body($0) == 0 ? 0 : errno }
        if failure != 0 { throw FileError(operation, path, errno: failure) }
    }

    /// Reads an attribute, of at most 64 KiB, through a call with the shape of `getxattr`.
    static func attribute(
        _ path: FilePath, _ get: (UnsafeMutableRawPointer?, Int) -> Int
    ) throws(FileError) -> [UInt8]? {
        var count = 0
        var failure: Int32 = 0
        var size = 4096
        while true {
            let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, initialized in
                count = get(buffer.baseAddress, size)
                failure = count < 0 ? errno : 0
                initialized = max(count, 0)
            }
            if failure == 0 { return bytes }
            if failure == noAttribute { return nil }
            guard failure == ERANGE, size < 65_536 else { throw FileError(.getAttribute, path, errno: failure) }
            size = 65_536
        }
    }
}

// The methods above have the names of the calls that they make.
private func systemOpen(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 {
    open(path, flags, mode)
}
private func systemUnlink(_ path: UnsafePointer<CChar>) -> Int32 { unlink(path) }
private func systemRename(_ from: UnsafePointer<CChar>, _ to: UnsafePointer<CChar>) -> Int32 { rename(from, to) }

extension FileStatus {
    init(_ raw: stat) {
        let kind: Kind =
            switch raw.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            default: .other
            }
        self.init(
            device: UInt64(truncatingIfNeeded: raw.st_dev), inode: UInt64(raw.st_ino),
            length: max(0, ByteCount(raw.st_size)),
            // A file system in user space says what it likes.
            allocatedBytes: max(0, min(ByteCount(raw.st_blocks), .bound / 512)) * 512,
            mode: UInt16(raw.st_mode & 0o7777), owner: UInt32(raw.st_uid), group: UInt32(raw.st_gid),
            modified: LocalFileSystem.modificationTime(raw), linkCount: UInt64(raw.st_nlink), kind: kind)
    }
}
