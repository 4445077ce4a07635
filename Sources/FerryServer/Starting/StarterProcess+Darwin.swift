#if canImport(Darwin)
    import Darwin
    import FerryCore

    extension StarterProcess {
        /// Nothing is confined here, so that nothing starts commands for it.
        static func start(_ program: String) throws(DownloadError) -> (socket: Int32, process: Int32) {
            throw failure(ENOTSUP)
        }
    }
#endif
