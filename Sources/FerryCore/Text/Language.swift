/// A language that Ferry's errors can be shown in.
public enum Language: String, Sendable, Hashable, Codable, CaseIterable {
    case english = "en"
    case simplifiedChinese = "zh-Hans"

    /// The language for messages by the environment's `LC_ALL`, `LC_MESSAGES`, `LANG`: the first that is set and not empty
    /// decides (POSIX.1-2024, 8.2). English for all that is not Chinese in simplified script.
    public init(environment: [String: String]) {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        self = locale.flatMap(Self.init(locale:)) ?? .english
    }

    /// The first of these that Ferry knows, English if none: identifiers such as `zh-Hans-CN`, as systems list them.
    public init(preferring identifiers: [String]) {
        self = identifiers.lazy.compactMap(Self.init(locale:)).first ?? .english
    }

    /// Of a locale such as `zh_CN.UTF-8`, `zh-Hans-HK`, `en_GB@euro`; `nil` when it is of neither language.
    private init?(locale: String) {
        let name = locale.prefix { $0 != "." && $0 != "@" }
        let parts = name.split { $0 == "_" || $0 == "-" }.map(\.asciiLowercased)
        switch parts.first {
        case "en": self = .english
        case "zh":
            // Without a script the region tells it.
            let isTraditional =
                parts.contains("hant") || !parts.contains("hans") && parts.contains { ["tw", "hk", "mo"].contains($0) }
            if isTraditional { return nil }
            self = .simplifiedChinese
        default: return nil
        }
    }
}
