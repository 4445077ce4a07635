#if canImport(Glibc)
    import Glibc

    /// What the C library calls differently from system to system.
    enum Platform {
        typealias Handler = @convention(c) (Int32) -> Void

        /// The limit of open files, for `getrlimit`.
        static var openFiles: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }

        static func setHandler(_ handler: @escaping Handler, in action: inout sigaction) {
            action.__sigaction_handler.sa_handler = handler
        }

        static func handler(in action: sigaction) -> Handler? { action.__sigaction_handler.sa_handler }
    }
#endif
