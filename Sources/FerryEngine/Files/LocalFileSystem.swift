// CFerry's header declares `stat` too; which module the compiler finds it in depends on the load order.
import CFerry
import FerryCore
import Synchronization
package import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The local file systems.
package struct LocalFileSystem: FileSystem {
    private let sharesWithGroup: Bool
    /// The confining roots, see ``confined(to:)``; a root below another one comes after it. Empty if not confined.
    private let roots: [Root]

    /// `sharesWithGroup`: see ``FileUser/sharesWithGroup``.
    package init(sharesWithGroup: Bool = false) { self.init(sharesWithGroup: sharesWithGroup, roots: []) }

    private init(sharesWithGroup: Bool, roots: [Root]) {
        self.sharesWithGroup = sharesWithGroup
        self.roots = roots
    }

    package func confined(to roots: [FilePath]) -> any FileSystem {
        let roots = roots.map { $0.lexicallyNormalized() }.sorted { $0.components.count < $1.components.count }
        return Self(sharesWithGroup: sharesWithGroup, roots: roots.map { Root($0) })
    }

    package func holdingRoots() -> any FileSystem {
        if roots.isEmpty { return self }
        return Self(sharesWithGroup: sharesWithGroup, roots: roots.map { Root($0.path, held: HeldDirectory()) })
    }

    package func open(_ path: FilePath, _ access: FileAccess) throws(FileError) -> any File {
        // O_NONBLOCK: opening a FIFO must not block; regular files ignore the flag.
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
            // The errors that file systems and kernels without unnamed files return.
            throw FileError(.create, directory, kind: .unsupported)
        }
    }

    package func link(_ file: any File, to path: FilePath) throws(FileError) {
        guard let file = file as? LocalFile else { throw FileError(.link, path, kind: .unsupported) }
        try at(.link, path) { directory, name throws(FileError) in try file.link(to: name, in: directory, path: path) }
    }

    package func link(_ from: FilePath, to path: FilePath) throws(FileError) {
        try at(.link, from) { fromDirectory, fromName throws(FileError) in
            try call(.link, path) { directory, name in linkat(fromDirectory, fromName, directory, name, 0) }
        }
    }

    package func rename(_ from: FilePath, to path: FilePath, replacing: Bool) throws(FileError) {
        do throws(FileError) {
            try at(.rename, path) { toDirectory, toName throws(FileError) in
                try call(.rename, from) { directory, name in
                    replacing
                        ? renameat(directory, name, toDirectory, toName)
                        : Self.renameWithoutReplacing(directory, name, toDirectory, toName)
                }
            }
        } catch  where !replacing && error.kind == .other(EINVAL) {
            throw FileError(.rename, from, kind: .unsupported)
        }
    }

    package func unlink(_ path: FilePath) throws(FileError) {
        try call(.remove, path) { unlinkat($0, $1, 0) }
    }

    package func makeDirectory(_ path: FilePath) throws(FileError) {
        try call(.makeDirectory, path) { mkdirat($0, $1, 0o777) }
    }

    package func removeDirectory(_ path: FilePath) throws(FileError) {
        try call(.remove, path) { unlinkat($0, $1, AT_REMOVEDIR) }
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
        try call(.inspect, path) { directory, name in
            let follows = followingLinks && directory == AT_FDCWD
            return fstatat(directory, name, &raw, follows ? 0 : AT_SYMLINK_NOFOLLOW)
        }
        var status = FileStatus(raw)
        if Self.isAmbiguous(status), !isProvenOwn(path, status) { status.owner = FileStatus.unknownOwner }
        return status
    }

    package func list(_ directory: FilePath, _ body: (_ name: String?) -> Bool) throws(FileError) {
        let descriptor = try descriptor(.list, directory, flags: O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard let stream = fdopendir(descriptor) else {
            let failure = errno
            _ = Self.closeDescriptor(descriptor)
            throw FileError(.list, directory, errno: failure)
        }
        // Closes the descriptor too.
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            // The name may be longer than the C declaration's array.
            let name = UnsafeRawPointer(entry).advanced(by: MemoryLayout<dirent>.offset(of: \.d_name) ?? 0)
            let text = String(validatingCString: name.assumingMemoryBound(to: CChar.self))
            if text != ".", text != "..", !body(text) { return }
        }
        guard errno == 0 else { throw FileError(.list, directory, errno: errno) }
    }

    package func space(at path: FilePath) throws(FileError) -> FileSystemSpace {
        var raw = statvfs()
        let descriptor = try descriptor(.measureSpace, path, flags: Self.pathOnly | O_CLOEXEC)
        defer { _ = Self.closeDescriptor(descriptor) }
        guard fstatvfs(descriptor, &raw) == 0 else { throw FileError(.measureSpace, path, errno: errno) }
        func bytes(_ blocks: some BinaryInteger) -> ByteCount {
            let (bytes, overflows) = UInt64(blocks).multipliedReportingOverflow(by: UInt64(raw.f_frsize))
            return overflows ? .max : ByteCount(clamping: bytes)
        }
        let free = Self.usableSpace(at: path) ?? bytes(raw.f_bavail)
        return FileSystemSpace(freeBytes: free, totalBytes: bytes(raw.f_blocks))
    }

    package func isWritable(_ directory: FilePath) -> Bool {
        let flags = Self.pathOnly | O_DIRECTORY | O_CLOEXEC
        guard let descriptor = try? descriptor(.inspect, directory, flags: flags) else { return false }
        defer { _ = Self.closeDescriptor(descriptor) }
        return faccessat(descriptor, ".", W_OK | X_OK, 0) == 0
    }

    package var bootID: String? { Self.systemBootID() }

    package var user: FileUser {
        FileUser(user: UInt32(geteuid()), group: UInt32(getegid()), sharesWithGroup: sharesWithGroup)
    }

    package var creationMask: UInt16 { Self.systemCreationMask() }

    private func file(
        _ operation: FileError.Operation, _ path: FilePath, flags: Int32, mode: UInt16
    ) throws(FileError) -> LocalFile {
        LocalFile(descriptor: try descriptor(operation, path, flags: flags, mode: mode), path: path)
    }

    private func descriptor(
        _ operation: FileError.Operation, _ path: FilePath, flags: Int32, mode: UInt16 = 0
    ) throws(FileError) -> Int32 {
        var descriptor: Int32 = -1
        try call(operation, path) { directory, name in
            let flags = directory == AT_FDCWD ? flags : flags | O_NOFOLLOW
            descriptor = retrying { openat(directory, name, flags, mode_t(mode)) }
            return descriptor < 0 ? -1 : 0
        }
        return descriptor
    }

    /// Performs a system call on a name in a directory; the call returns 0 or sets `errno`.
    private func call(
        _ operation: FileError.Operation, _ path: FilePath,
        _ body: (Int32, UnsafePointer<CInterop.PlatformChar>) -> Int32
    ) throws(FileError) {
        try at(operation, path) { directory, name throws(FileError) in
            // Read `errno` before any other call can change it.
            let failure = body(directory, name) == 0 ? 0 : errno
            if failure == ELOOP, directory != AT_FDCWD { throw FileError(operation, path, kind: .confined) }
            if failure != 0 { throw FileError(operation, path, errno: failure) }
        }
    }

    /// Makes the first call that the file system supports. Returns its result and preserves its `errno`.
    ///
    /// Any other failure is final, because the system reports a failed write only once, and a second call would hide it.
    static func firstSupported(_ calls: (() -> Int32)...) -> Int32 {
        for call in calls.dropLast() {
            if call() == 0 { return 0 }
            guard errno == ENOTSUP || errno == EINVAL || errno == ENOTTY else { return -1 }
        }
        return calls.last?() ?? 0
    }

    /// Reads an attribute of at most 64 KiB through a function with the signature of `getxattr`.
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

extension LocalFileSystem {
    /// Returns an open file for a descriptor of another part of the program, for inspection; it has a duplicate of the
    /// descriptor.
    package static func file(ofDescriptor descriptor: Int32, at path: FilePath) throws(FileError) -> any File {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw FileError(.open, path, errno: errno) }
        return LocalFile(descriptor: copy, path: path)
    }
}

// In a user namespace, one number stands for all users without a number there. If this process has that number too, the status
// of a file does not show whether the user owns it. An operation that the kernel permits only to the owner does.
extension LocalFileSystem {
    /// Whether a file may belong to this user or to any other.
    static func isAmbiguous(_ status: FileStatus) -> Bool {
        guard let unmappedUser else { return false }
        return status.owner == unmappedUser && geteuid() == unmappedUser
    }

    private func isProvenOwn(_ path: FilePath, _ status: FileStatus) -> Bool {
        // Opening a device may have side effects.
        guard status.kind == .regular || status.kind == .directory else { return false }
        let flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | Self.ownersOnly
        guard let descriptor = try? descriptor(.inspect, path, flags: flags) else { return false }
        _ = Self.closeDescriptor(descriptor)
        return true
    }

    /// Returns whether an open file is proven to belong to this user.
    static func isProvenOwn(_ descriptor: Int32) -> Bool {
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFL, flags | ownersOnly) == 0 else { return false }
        _ = fcntl(descriptor, F_SETFL, flags)
        return true
    }
}

extension FileStatus {
    /// The owner of a file that may belong to another user: no user has this number.
    static let unknownOwner = UInt32.max

    init(_ raw: stat) {
        let kind: Kind =
            switch raw.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            default: .other
            }
        self.init(
            device: LocalFileSystem.volume(ofDevice: UInt64(truncatingIfNeeded: raw.st_dev)), inode: UInt64(raw.st_ino),
            length: max(0, ByteCount(raw.st_size)),
            // A FUSE file system may report any value.
            allocatedBytes: max(0, min(ByteCount(raw.st_blocks), .bound / 512)) * 512,
            mode: UInt16(raw.st_mode & 0o7777), owner: UInt32(raw.st_uid), group: UInt32(raw.st_gid),
            modified: LocalFileSystem.modificationTime(raw), linkCount: UInt64(raw.st_nlink), kind: kind)
    }
}

// A checked path may lead elsewhere by the time it is used. Therefore a confined file system opens the path's directory for each
// call, below the root and without following symbolic links, and makes the call relative to that descriptor. The call cannot
// reach anything outside the root, whatever is renamed or replaced meanwhile.
extension LocalFileSystem {
    /// A confining root.
    private struct Root: Sendable {
        let path: FilePath
        /// The path with a slash at its end, which all paths below the root begin with.
        let prefix: [CInterop.PlatformChar]
        /// The open root; `nil` if it is opened for each call.
        let held: HeldDirectory?

        init(_ path: FilePath, held: HeldDirectory? = nil) {
            (self.path, self.held) = (path, held)
            let bytes = path.withPlatformString { Array(UnsafeBufferPointer(start: $0, count: path.length)) }
            prefix = bytes.last == LocalFileSystem.slash ? bytes : bytes + [LocalFileSystem.slash]
        }
    }

    /// A directory that is opened at its first use and then kept open.
    private final class HeldDirectory: Sendable {
        private let state = Mutex<Int32?>(nil)

        /// Returns the descriptor, or a negative number with `errno`.
        func descriptor(_ open: () -> Int32) -> Int32 {
            state.withLock { state in
                if let state { return state }
                let new = open()
                if new >= 0 { state = new }
                return new
            }
        }

        deinit { if let descriptor = state.withLock({ $0 }) { _ = LocalFileSystem.closeDescriptor(descriptor) } }
    }

    private static let slash = CInterop.PlatformChar(bitPattern: UInt8(ascii: "/"))

    /// Calls `body` with a directory descriptor and a path relative to it. If this file system is confined, the path is a single
    /// name.
    func at<Value>(
        _ operation: FileError.Operation, _ path: FilePath,
        _ body: (_ directory: Int32, _ name: UnsafePointer<CInterop.PlatformChar>) throws(FileError) -> Value
    ) throws(FileError) -> Value {
        let place = roots.isEmpty || path.hasPlainComponents ? path : path.lexicallyNormalized()
        let result = place.withPlatformString { text in
            Result { () throws(FileError) in try at(operation, place, text, body) }
        }
        return try result.get()
    }

    /// Calls `body` like ``at(_:_:_:)``, for a normalized path and its bytes. The directory is opened below the outermost root that
    /// contains the path. No root contains the outermost roots and their ancestors, which the user chose.
    private func at<Value>(
        _ operation: FileError.Operation, _ path: FilePath, _ text: UnsafePointer<CInterop.PlatformChar>,
        _ body: (_ directory: Int32, _ name: UnsafePointer<CInterop.PlatformChar>) throws(FileError) -> Value
    ) throws(FileError) -> Value {
        if roots.isEmpty { return try body(AT_FDCWD, text) }
        guard let root = roots.first(where: { strncmp(text, $0.prefix, $0.prefix.count) == 0 }) else {
            guard roots.contains(where: { $0.path.starts(with: path) }) else {
                throw FileError(operation, path, kind: .confined)
            }
            return try body(AT_FDCWD, text)
        }
        let rest = UnsafeBufferPointer(start: text, count: path.length).dropFirst(root.prefix.count)
        let end = rest.lastIndex(of: Self.slash)
        let (directory, isHeld) = try Self.open(rest[..<(end ?? rest.startIndex)], below: root, operation, path)
        defer { if !isHeld { _ = Self.closeDescriptor(directory) } }
        return try body(directory, text + (end.map { $0 + 1 } ?? rest.startIndex))
    }

    private static func open(
        _ rest: Slice<UnsafeBufferPointer<CInterop.PlatformChar>>, below root: Root,
        _ operation: FileError.Operation, _ path: FilePath
    ) throws(FileError) -> (directory: Int32, isHeld: Bool) {
        // The root may itself be a symbolic link, because the user chose it.
        func openRoot() -> Int32 {
            root.path.withPlatformString { name in
                retrying { openat(AT_FDCWD, name, pathOnly | O_DIRECTORY | O_CLOEXEC) }
            }
        }
        let base = root.held?.descriptor(openRoot) ?? openRoot()
        guard base >= 0 else { throw FileError(operation, path, errno: errno) }
        if rest.isEmpty { return (base, root.held != nil) }
        defer { if root.held == nil { _ = closeDescriptor(base) } }
        let directory = openDirectory(FilePath(platformString: Array(rest) + [0]), beneath: base)
        let failure = errno
        guard directory >= 0 else {
            throw failure == ELOOP || failure == EXDEV
                ? FileError(operation, path, kind: .confined) : FileError(operation, path, errno: failure)
        }
        return (directory, false)
    }
}

extension FilePath {
    /// Whether the bytes of the path show that it has no components `.` and `..`. This fast check suffices for nearly every path.
    ///
    /// May be `false` for a path without such components.
    fileprivate var hasPlainComponents: Bool {
        withPlatformString { $0[0] == CInterop.PlatformChar(bitPattern: UInt8(ascii: "/")) && strstr($0, "/.") == nil }
    }
}
