import FerryCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Returns the bytes that this user may still write below a directory, and how many of them must remain; `nil` if the
/// system does not say. Blocks.
typealias GatewaySpace = @Sendable (_ directory: String) -> (free: ByteCount, reserve: ByteCount)?

enum FileSystemSpace {
    /// The free space of the directory's file system; `reserve` remains of it, or what downloads keep free.
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
