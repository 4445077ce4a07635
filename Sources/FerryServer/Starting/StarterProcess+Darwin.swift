#if canImport(Darwin)
    import Darwin
    import FerryCore

    extension StarterProcess {
        /// A stub: there is no confinement on Darwin.
        static func start(_ program: String) throws(DownloadError) -> (socket: Int32, process: Int32) {
            throw failure(ENOTSUP)
        }
    }
#endif
