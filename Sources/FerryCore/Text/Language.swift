/// A language of Ferry's messages.
public enum Language: String, Sendable, Hashable, Codable, CaseIterable {
    case english = "en"
    case simplifiedChinese = "zh-Hans"

    /// The language set by the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is not empty (POSIX.1-2024, 8.2).
    /// English for everything except Simplified Chinese.
    package init(environment: [String: String]) {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        self = locale.flatMap(Self.init(locale:)) ?? .english
    }

    /// The first supported language in a preference list of identifiers such as `zh-Hans-CN`; English if there is none.
    public init(preferring identifiers: [String]) {
        self = identifiers.lazy.compactMap(Self.init(locale:)).first ?? .english
    }

    /// The language in which the system shows the app, so that an app without Chinese does not show Chinese errors. A
    /// program without localizations uses the user's preferences.
    ///
    /// - Parameters:
    ///   - localizations: The localizations of the app.
    ///   - chosen: The localizations that the system has chosen, in order.
    ///   - preferred: The user's preferred languages.
    package init(localizations: [String], chosen: [String], preferred: [String]) {
        // A resource that needs no translation is in `Base`.
        let isLocalized = localizations.contains { $0 != "Base" }
        self.init(preferring: isLocalized ? chosen : preferred)
    }

    /// The language of a locale such as `zh_CN.UTF-8`, `zh-Hans-HK`, `en_GB@euro`; `nil` if it is not supported.
    private init?(locale: String) {
        let name = locale.prefix { $0 != "." && $0 != "@" }
        let parts = name.split { $0 == "_" || $0 == "-" }.map(\.asciiLowercased)
        switch parts.first {
        case "en": self = .english
        case "zh":
            // Without a script subtag, the region implies the script.
            let isTraditional =
                parts.contains("hant") || !parts.contains("hans") && parts.contains { ["tw", "hk", "mo"].contains($0) }
            if isTraditional { return nil }
            self = .simplifiedChinese
        default: return nil
        }
    }
}

extension Language {
    /// One text in every language.
    package typealias Texts = (english: String, simplifiedChinese: String)

    package func text(of texts: Texts) -> String {
        switch self {
        case .english: texts.english
        case .simplifiedChinese: texts.simplifiedChinese
        }
    }
}
