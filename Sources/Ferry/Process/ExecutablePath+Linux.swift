#if os(Linux)
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    package enum ExecutablePath {
        /// The absolute path of this process's program; `nil` without procfs.
        package static var own: String? {
            guard let bytes = realpath("/proc/self/exe", nil) else { return nil }
            defer { free(bytes) }
            return String(cString: bytes)
        }
    }
#endif
