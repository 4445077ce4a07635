#if os(Linux)
    import CFerry
    import FerryCore
    import SystemPackage

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    extension LocalFileSystem {
        static let unnamedFlags: Int32? = ferry_O_TMPFILE
        static let noAttribute = ENODATA

        /// The user ID that stands for all users without an ID in this process's user namespace; `nil` if every user has one.
        static let unmappedUser = UserNamespace.unmapped(
            map: smallFile("/proc/self/uid_map"), overflow: smallFile("/proc/sys/kernel/overflowuid"))
        /// Opens a file without updating its access time, which the kernel permits only to the file's owner.
        static let ownersOnly = ferry_O_NOATIME

        /// The number that identifies a volume; on Linux the number of its device.
        static func volume(ofDevice device: UInt64) -> UInt64 { device }

        /// The number that identifies the volume to which a record refers; on Linux the recorded number.
        static func volume(recordedAs number: UInt64) -> UInt64 { number }

        /// The number of bytes available if the system frees space for the user's files; `nil`, because Linux frees none.
        static func usableSpace(at path: FilePath) -> ByteCount? { nil }

        /// `UTIME_OMIT`: leaves a time unchanged.
        static var unchangedTime: timespec { timespec(tv_sec: 0, tv_nsec: 0x3fff_fffe) }

        static func dataSync(_ descriptor: Int32) -> Int32 { fdatasync(descriptor) }
        static func fullSync(_ descriptor: Int32) -> Int32 { fsync(descriptor) }
        static func allocate(_ descriptor: Int32, _ length: ByteCount) -> Int32 { ferry_fallocate(descriptor, length) }
        static func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }

        /// `O_PATH`: opens a file only as a location in the tree.
        static let pathOnly: Int32 = ferry_O_PATH

        static func renameWithoutReplacing(
            _ fromDirectory: Int32, _ from: UnsafePointer<CChar>, _ toDirectory: Int32, _ to: UnsafePointer<CChar>
        ) -> Int32 {
            ferry_renameat2(fromDirectory, from, toDirectory, to, ferry_RENAME_NOREPLACE)
        }

        /// Links an unnamed file to a name; returns 0 or the error number.
        static func linkUnnamed(_ descriptor: Int32, _ directory: Int32, _ name: UnsafePointer<CChar>) -> Int32 {
            // Linking through /proc needs no privilege; AT_EMPTY_PATH needs no /proc, but may need a capability.
            if ferry_linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", directory, name, AT_SYMLINK_FOLLOW) == 0 {
                return 0
            }
            let failure = errno
            guard failure == ENOENT || failure == EACCES || failure == EPERM else { return failure }
            return ferry_linkat(descriptor, "", directory, name, ferry_AT_EMPTY_PATH) == 0 ? 0 : errno
        }

        /// Opens a directory below `root` without following symbolic links; returns -1 and sets `errno` on failure.
        static func openDirectory(_ path: FilePath, beneath root: Int32) -> Int32 {
            let descriptor = path.withPlatformString { path in retrying { ferry_open_beneath(root, path) } }
            // Kernels before 5.6 lack `openat2`, and a sandbox may refuse unknown calls.
            guard descriptor < 0, errno == ENOSYS || errno == EPERM else { return descriptor }
            return openStepByStep(path, beneath: root)
        }

        /// Opens the directory component by component, with the same result as ``openDirectory(_:beneath:)``.
        static func openStepByStep(_ path: FilePath, beneath root: Int32) -> Int32 {
            var current = root
            for component in path.components {
                let next = component.withPlatformString { name in
                    retrying { openat(current, name, ferry_O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
                }
                let failure = errno
                if current != root { _ = close(current) }
                guard next >= 0 else {
                    errno = failure
                    return -1
                }
                current = next
            }
            return current == root ? openat(root, ".", ferry_O_PATH | O_DIRECTORY | O_CLOEXEC) : current
        }

        static func setAttribute(_ descriptor: Int32, _ name: String, _ value: [UInt8]) -> Int32 {
            ferry_fsetxattr(descriptor, name, value, value.count)
        }

        static func getAttribute(
            _ descriptor: Int32, _ name: String, _ buffer: UnsafeMutableRawPointer?, _ size: Int
        ) -> Int {
            ferry_fgetxattr(descriptor, name, buffer, size)
        }

        /// Does nothing, because Linux has no such roles.
        static func mark(_ descriptor: Int32, as role: FileRole) {}

        static func modificationTime(_ raw: stat) -> FileTime {
            FileTime(seconds: Int64(raw.st_mtim.tv_sec), nanoseconds: Int32(truncatingIfNeeded: raw.st_mtim.tv_nsec))
        }

        static func creationTime(_ descriptor: Int32, _ raw: stat) -> FileTime? {
            var (seconds, nanoseconds) = (Int64(0), UInt32(0))
            guard ferry_creation_time(descriptor, &seconds, &nanoseconds) == 0 else { return nil }
            return FileTime(seconds: seconds, nanoseconds: Int32(clamping: nanoseconds))
        }

        static func systemBootID() -> String? {
            guard let text = smallFile("/proc/sys/kernel/random/boot_id") else { return nil }
            let id = text.prefix { !$0.isNewline }
            return id.isEmpty ? nil : String(id)
        }

        static func systemCreationMask() -> UInt16 {
            // Only procfs shows the umask without changing it for other threads.
            for line in (smallFile("/proc/self/status") ?? "").split(at: "\n") {
                if let value = line.dropping(prefix: "Umask:"),
                    let mask = UInt16(value.drop(while: \.isWhitespace), radix: 8)
                {
                    return mask
                }
            }
            let mask = umask(0o077)
            _ = umask(mask)
            return UInt16(mask & 0o777)
        }

        private static func smallFile(_ path: FilePath) -> String? {
            // allow(single-place): procfs does not block.
            guard let file = try? LocalFileSystem().open(path, .readOnly) else { return nil }
            defer { file.close() }
            var count = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: 8192) { buffer, initialized in
                count = (try? file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)) ?? 0
                initialized = count
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
#endif
