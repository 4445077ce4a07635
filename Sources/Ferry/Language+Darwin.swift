#if canImport(Darwin)
    public import FerryCore
    import struct Foundation.Locale

    extension Language {
        /// The language of the process, by the user's list of languages at the first question.
        public static let current = Language(preferring: Locale.preferredLanguages)
    }
#endif
