#if canImport(Darwin)
    public import FerryCore
    import struct Foundation.Locale

    extension Language {
        /// The language of the process: the first supported one of the user's preferred languages, read on first
        /// access.
        public static let current = Language(preferring: Locale.preferredLanguages)
    }
#endif
