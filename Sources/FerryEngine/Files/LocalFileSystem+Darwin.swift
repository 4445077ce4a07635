#if canImport(Darwin)
    import Darwin
    import FerryCore
    import Foundation
    import SystemPackage

    extension LocalFileSystem {
        /// Darwin does not support unnamed files.
        static let unnamedFlags: Int32? = nil
        static let noAttribute = ENOATTR

        /// The lasting numbers of volumes, because device numbers are valid only until the system restarts.
        private static let volumes = VolumeIdentities { volumeUUID(ofDevice: $0) }

        /// Every user has a number.
        static let unmappedUser: UInt32? = nil
        static let ownersOnly: Int32 = 0

        /// The number that identifies a volume.
        static func volume(ofDevice device: UInt64) -> UInt64 { volumes.identity(ofDevice: device) }

        /// The number that identifies the volume to which a record refers. Earlier versions recorded the device number.
        static func volume(recordedAs number: UInt64) -> UInt64 { volumes.identity(recordedAs: number) }

        private static func volumeUUID(ofDevice device: UInt64) -> [UInt8]? {
            let count = getfsstat(nil, 0, MNT_NOWAIT)
            guard count > 0 else { return nil }
            var mounts = Array(repeating: statfs(), count: Int(count))
            let found = getfsstat(&mounts, Int32(mounts.count * MemoryLayout<statfs>.stride), MNT_NOWAIT)
            guard found > 0 else { return nil }
            for mount in mounts.prefix(Int(found))
            where UInt32(bitPattern: mount.f_fsid.val.0) == UInt32(truncatingIfNeeded: device) {
                let path = withUnsafeBytes(of: mount.f_mntonname) { name in
                    String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
                }
                var wanted = attrlist()
                wanted.bitmapcount = UInt16(ATTR_BIT_MAP_COUNT)
                wanted.volattr = attrgroup_t(ATTR_VOL_INFO) | attrgroup_t(ATTR_VOL_UUID)
                // The length of the answer, and the UUID.
                var answer = [UInt8](repeating: 0, count: 20)
                guard getattrlist(path, &wanted, &answer, answer.count, 0) == 0 else { return nil }
                return Array(answer[4...])
            }
            return nil
        }

        /// The number of bytes available if the system frees space for the user's files, for example by purging caches; `nil` if
        /// unknown.
        static func usableSpace(at path: FilePath) -> ByteCount? {
            #if os(macOS) || os(iOS) || os(visionOS)
                let url = URL(fileURLWithPath: path.string)
                let key = URLResourceKey.volumeAvailableCapacityForImportantUsageKey
                // Zero if the system does not know, as for network volumes.
                return (try? url.resourceValues(forKeys: [key]))?.volumeAvailableCapacityForImportantUsage
                    .flatMap { $0 > 0 ? $0 : nil }
            #else
                return nil
            #endif
        }

        /// `UTIME_OMIT`: leaves a time unchanged.
        static var unchangedTime: timespec { timespec(tv_sec: 0, tv_nsec: -2) }

        /// `fsync` leaves data in the drive's cache on Darwin; it is the fallback where `F_FULLFSYNC` is not
        /// supported.
        static func fullSync(_ descriptor: Int32) -> Int32 {
            firstSupported({ fcntl(descriptor, F_FULLFSYNC) }, { fsync(descriptor) })
        }

        /// Preserves the order of writes: data that is written before the call reaches the medium before any data that is
        /// written after it, such as claims in a journal. ``fullSync(_:)`` flushes the drive's cache at the end, and so do
        /// commits of the list.
        static func dataSync(_ descriptor: Int32) -> Int32 {
            firstSupported({ fcntl(descriptor, F_BARRIERFSYNC) }, { fullSync(descriptor) })
        }
        static func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }

        static func allocate(_ descriptor: Int32, _ length: ByteCount) -> Int32 {
            var raw = stat()
            guard fstat(descriptor, &raw) == 0 else { return -1 }
            guard ByteCount(raw.st_size) < length else { return 0 }
            // The length counts from the end of the allocated space. Without `F_ALLOCATECONTIG`, it need not be contiguous.
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

        static func linkUnnamed(_ descriptor: Int32, _ directory: Int32, _ name: UnsafePointer<CChar>) -> Int32 {
            ENOTSUP
        }

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

        /// Sets whether backups include the file, and when it can be opened. Frameworks take paths, so the file's current path
        /// is used.
        static func mark(_ descriptor: Int32, as role: FileRole) {
            var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
            guard fcntl(descriptor, F_GETPATH, &bytes) == 0 else { return }
            let path = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            if role != .records {
                var url = URL(fileURLWithPath: path)
                var values = URLResourceValues()
                values.isExcludedFromBackup = role == .unfinished
                try? url.setResourceValues(values)
            }
            #if !os(macOS)
                guard role != .finished else { return }
                try? FileManager.default.setAttributes(
                    [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication], ofItemAtPath: path)
            #endif
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
            if sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 {
                return String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            // A sandbox may refuse the identifier. The start time changes with the clock; the boot then counts as another one,
            // and data that depends on the boot is not trusted, which is safe.
            var start = timeval()
            size = MemoryLayout<timeval>.size
            guard sysctlbyname("kern.boottime", &start, &size, nil, 0) == 0, start.tv_sec > 0 else { return nil }
            return "started-\(start.tv_sec)"
        }

        static func systemCreationMask() -> UInt16 {
            // The umask cannot be read without setting it. Files that are created in that instant get fewer permissions, never
            // more.
            let mask = umask(0o077)
            _ = umask(mask)
            return UInt16(mask & 0o777)
        }
    }
#endif
