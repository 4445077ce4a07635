#if canImport(Darwin)
    import Darwin

    /// What the C library calls differently from system to system.
    enum Platform {
        typealias Handler = @convention(c) (Int32) -> Void

        /// The limit of open files, for `getrlimit`.
        static var openFiles: Int32 { RLIMIT_NOFILE }

        /// What opens addresses on the desktop.
        static func opener(_ environment: [String: String]) -> String? { "/usr/bin/open" }

        static func setHandler(_ handler: @escaping Handler, in action: inout sigaction) {
            action.__sigaction_u.__sa_handler = handler
        }

        static func handler(in action: sigaction) -> Handler? { action.__sigaction_u.__sa_handler }
    }
#endif
