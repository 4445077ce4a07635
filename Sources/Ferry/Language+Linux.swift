#if os(Linux)
    public import FerryCore
    import class Foundation.ProcessInfo

    extension Language {
        /// The language of the process, by `LC_ALL`, `LC_MESSAGES`, `LANG` as they were at the first question.
        public static let current = Language(environment: ProcessInfo.processInfo.environment)
    }
#endif
