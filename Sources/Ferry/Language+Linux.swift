#if os(Linux)
    public import FerryCore
    import class FoundationEssentials.ProcessInfo

    extension Language {
        /// The language of the process, from `LC_ALL`, `LC_MESSAGES` and `LANG`, read on first access.
        public static let current = Language(environment: ProcessInfo.processInfo.environment)
    }
#endif
