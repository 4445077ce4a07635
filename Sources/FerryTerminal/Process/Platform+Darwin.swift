#if canImport(Darwin)
    import Darwin

    /// Differences between the C libraries.
    enum Platform {
        typealias Handler = @convention(c) (Int32) -> Void

        /// The open file limit, for `getrlimit`.
        static var openFiles: Int32 { RLIMIT_NOFILE }

        /// The program that opens files on the desktop.
        static func opener(_ environment: [String: String]) -> String? { "/usr/bin/open" }

        static func setHandler(_ handler: @escaping Handler, in action: inout sigaction) {
            action.__sigaction_u.__sa_handler = handler
        }

        static func handler(in action: sigaction) -> Handler? { action.__sigaction_u.__sa_handler }
    }
#endif
