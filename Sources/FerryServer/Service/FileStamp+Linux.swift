#if os(Linux)
    import Ferry

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    extension FileStamp {
        static func modificationTime(_ status: stat) -> timespec { status.st_mtim }
    }
#endif
