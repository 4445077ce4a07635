import FerryCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Returns the bytes that this user may still write below a directory, and how many of them must remain free; `nil` if the
/// system does not report them. Blocks.
typealias GatewaySpace = @Sendable (_ directory: String) -> (free: ByteCount, reserve: ByteCount)?

enum FileSystemSpace {
    /// Returns a function that measures the free space of a directory's file system. `reserve` is the number of bytes that must
    /// remain free; `nil` for the same reserve as for downloads.
    static func measure(reserve: ByteCount?) -> GatewaySpace {
        { directory in
            var status = statvfs()
            guard statvfs(directory, &status) == 0 else { return nil }
            let unit = ByteCount(status.f_frsize)
            let total = ByteCount(status.f_blocks) * unit
            return (ByteCount(status.f_bavail) * unit, reserve ?? min(256_000_000, total / 100))
        }
    }
}
