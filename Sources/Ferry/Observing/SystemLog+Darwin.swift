#if canImport(os)
    import os

    /// The unified log of Apple's systems. Addresses, paths and file names are private in it; the event and the identifier of
    /// the download are public.
    enum SystemLog {
        private static let logger = Logger(subsystem: "ferry", category: "downloads")

        static let write: (@Sendable (LogEntry) -> Void)? = { entry in
            let level: OSLogType =
                switch entry.level {
                case .debug: .debug
                case .info: .info
                case .notice: .default
                case .error: .error
                }
            logger.log(level: level, "\(entry.text, privacy: .public): \(entry.details ?? "-", privacy: .private)")
        }
    }
#endif
