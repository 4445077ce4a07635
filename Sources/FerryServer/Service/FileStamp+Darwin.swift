#if canImport(Darwin)
    import Darwin
    import Ferry

    extension FileStamp {
        static func modificationTime(_ status: stat) -> timespec { status.st_mtimespec }
    }
#endif
