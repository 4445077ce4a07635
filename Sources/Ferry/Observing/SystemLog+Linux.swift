#if !canImport(os)
    /// This system has no log of its own; faults go to the logger that the app sets.
    enum SystemLog {
        static let write: (@Sendable (LogEntry) -> Void)? = nil
    }
#endif
