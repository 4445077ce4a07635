#if canImport(Darwin)
    public import FerryCore
    import class Foundation.Bundle
    import struct Foundation.Locale

    extension Language {
        /// The language of the localization that the app uses; in a program without localizations, the first supported language
        /// among the user's preferred languages. Read on first access.
        public static let current = Language(
            localizations: Bundle.main.localizations, chosen: Bundle.main.preferredLocalizations,
            preferred: Locale.preferredLanguages)
    }
#endif
