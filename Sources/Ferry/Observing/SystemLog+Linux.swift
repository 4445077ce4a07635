#if !canImport(os)
    /// There is no log of the system here: faults are for the logger that the app sets.
    enum SystemLog {
        static let write: (@Sendable (LogEntry) -> Void)? = nil
    }
#endif
