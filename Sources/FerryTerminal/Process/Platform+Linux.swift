#if canImport(Glibc)
    import FerryCore
    import Glibc

    /// Differences between the C libraries.
    enum Platform {
        typealias Handler = @convention(c) (Int32) -> Void

        /// The open file limit, for `getrlimit`.
        static var openFiles: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }

        /// The program that opens files on the desktop; `nil` without one.
        static func opener(_ environment: [String: String]) -> String? {
            guard environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil else { return nil }
            let places = (environment["PATH"] ?? "").split(at: ":").filter { $0.utf8.hasPrefix("/") }
            return places.map { $0 + "/xdg-open" }.first { access($0, X_OK) == 0 }
        }

        static func setHandler(_ handler: @escaping Handler, in action: inout sigaction) {
            action.__sigaction_handler.sa_handler = handler
        }

        static func handler(in action: sigaction) -> Handler? { action.__sigaction_handler.sa_handler }
    }
#endif
