#if canImport(Darwin)
    public import FerryCore
    import class Foundation.Bundle
    import struct Foundation.Locale

    extension Language {
        /// The language of the app: that of its localization in use, or of a program without any the first supported one of
        /// the user's preferred languages; read on first access.
        public static let current = Language(
            localizations: Bundle.main.localizations, chosen: Bundle.main.preferredLocalizations,
            preferred: Locale.preferredLanguages)
    }
#endif
