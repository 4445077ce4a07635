#if canImport(Darwin)
    import Darwin
    import FerryCore
    import SystemPackage

    extension LocalFileSystem {
        /// Darwin has no unnamed files.
        static let unnamedFlags: Int32? = nil
        static let noAttribute = ENOATTR
        /// `UTIME_OMIT`: leaves a time unchanged.
        static var unchangedTime: timespec { timespec(tv_sec: 0, tv_nsec: -2) }

        /// `fsync` leaves data in the drive's cache on Darwin; it is the fallback where `F_FULLFSYNC` is not
        /// supported.
        static func fullSync(_ descriptor: Int32) -> Int32 {
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return 0 }
            guard errno == ENOTSUP || errno == EINVAL || errno == ENOTTY else { return -1 }
            return fsync(descriptor)
        }

        static func dataSync(_ descriptor: Int32) -> Int32 { fullSync(descriptor) }
        static func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }

        static func allocate(_ descriptor: Int32, _ length: ByteCount) -> Int32 {
            var raw = stat()
            guard fstat(descriptor, &raw) == 0 else { return -1 }
            guard ByteCount(raw.st_size) < length else { return 0 }
            // The length counts from the end of the allocated space; `F_ALLOCATEALL` without `F_ALLOCATECONTIG`.
            var store = fstore_t(
                fst_flags: UInt32(F_ALLOCATEALL), fst_posmode: F_PEOFPOSMODE, fst_offset: 0,
                fst_length: off_t(length) - raw.st_size, fst_bytesalloc: 0)
            guard fcntl(descriptor, F_PREALLOCATE, &store) != -1 else { return -1 }
            return ftruncate(descriptor, off_t(length))
        }

        /// Darwin has no `O_PATH`.
        static let pathOnly: Int32 = O_RDONLY

        static func renameWithoutReplacing(
            _ fromDirectory: Int32, _ from: UnsafePointer<CChar>, _ toDirectory: Int32, _ to: UnsafePointer<CChar>
        ) -> Int32 {
            renameatx_np(fromDirectory, from, toDirectory, to, UInt32(RENAME_EXCL))
        }

        static func linkUnnamed(_ descriptor: Int32, _ directory: Int32, _ name: FilePath) -> Int32 { ENOTSUP }

        /// Opens a directory below `root` without following symbolic links; returns -1 and sets `errno` on failure.
        static func openDirectory(_ path: FilePath, beneath root: Int32) -> Int32 {
            path.withPlatformString { path in
                retrying { openat(root, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW_ANY | O_CLOEXEC) }
            }
        }

        static func setAttribute(_ descriptor: Int32, _ name: String, _ value: [UInt8]) -> Int32 {
            fsetxattr(descriptor, name, value, value.count, 0, 0)
        }

        static func getAttribute(
            _ descriptor: Int32, _ name: String, _ buffer: UnsafeMutableRawPointer?, _ size: Int
        ) -> Int {
            fgetxattr(descriptor, name, buffer, size, 0, 0)
        }

        static func modificationTime(_ raw: stat) -> FileTime {
            FileTime(
                seconds: Int64(raw.st_mtimespec.tv_sec),
                nanoseconds: Int32(truncatingIfNeeded: raw.st_mtimespec.tv_nsec))
        }

        static func creationTime(_ descriptor: Int32, _ raw: stat) -> FileTime? {
            FileTime(seconds: Int64(raw.st_birthtimespec.tv_sec), nanoseconds: Int32(raw.st_birthtimespec.tv_nsec))
        }

        static func systemBootID() -> String? {
            var bytes = [UInt8](repeating: 0, count: 64)
            var size = bytes.count
            guard sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return nil }
            return String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }

        static func systemCreationMask() -> UInt16 {
            // The umask cannot be read without setting it; files created in that instant get fewer permissions, never
            // more.
            let mask = umask(0o077)
            _ = umask(mask)
            return UInt16(mask & 0o777)
        }
    }
#endif
