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
        /// `UTIME_OMIT`: leaves that time as it is.
        static var unchangedTime: timespec { timespec(tv_sec: 0, tv_nsec: 0x3fff_fffe) }

        static func dataSync(_ descriptor: Int32) -> Int32 { fdatasync(descriptor) }
        static func fullSync(_ descriptor: Int32) -> Int32 { fsync(descriptor) }
        static func allocate(_ descriptor: Int32, _ length: ByteCount) -> Int32 { ferry_fallocate(descriptor, length) }
        static func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }

        static func linkNames(_ from: UnsafePointer<CChar>, _ to: UnsafePointer<CChar>) -> Int32 {
            ferry_linkat(AT_FDCWD, from, AT_FDCWD, to, 0)
        }

        static func renameWithoutReplacing(_ from: UnsafePointer<CChar>, _ to: UnsafePointer<CChar>) -> Int32 {
            ferry_renameat2(from, to, ferry_RENAME_NOREPLACE)
        }

        /// Names an unnamed file; gives 0 or the error.
        static func linkUnnamed(_ descriptor: Int32, _ path: FilePath) -> Int32 {
            path.withPlatformString { path in
                // Through /proc everybody may; by AT_EMPTY_PATH only some, but that needs no /proc.
                if ferry_linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 {
                    return 0
                }
                let failure = errno
                guard failure == ENOENT || failure == EACCES || failure == EPERM else { return failure }
                return ferry_linkat(descriptor, "", AT_FDCWD, path, ferry_AT_EMPTY_PATH) == 0 ? 0 : errno
            }
        }

        static func setAttribute(_ descriptor: Int32, _ name: String, _ value: [UInt8]) -> Int32 {
            ferry_fsetxattr(descriptor, name, value, value.count)
        }

        static func getAttribute(
            _ descriptor: Int32, _ name: String, _ buffer: UnsafeMutableRawPointer?, _ size: Int
        ) -> Int {
            ferry_fgetxattr(descriptor, name, buffer, size)
        }

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
            // Only the kernel's own page tells it without changing it for the other threads.
            for line in (smallFile("/proc/self/status") ?? "").split(separator: "\n") where line.hasPrefix("Umask:") {
                if let mask = UInt16(line.dropFirst("Umask:".count).drop(while: \.isWhitespace), radix: 8) {
                    return mask
                }
            }
            let mask = umask(0o077)
            _ = umask(mask)
            return UInt16(mask & 0o777)
        }

        private static func smallFile(_ path: FilePath) -> String? {
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
