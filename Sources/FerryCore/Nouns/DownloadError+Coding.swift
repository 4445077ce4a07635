/// Coded as `{"code", "message", "suggestion"?, "underlying"?, "recovery"}`, in English, and the sentences of every language
/// in `messages` and `suggestions`, which are not decoded.
///
/// Unknown codes are preserved; `recovery` is omitted when it is `permanent`. `phrase` and `suggestionPhrase` carry the
/// translatable form (``ErrorPhrase``); phrases of another version, which are unknown or have another English text, are
/// ignored.
extension DownloadError: Codable {
    private enum CodingKeys: String, CodingKey {
        case code, message, suggestion, underlying, recovery, phrase, suggestionPhrase, messages, suggestions
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            Code(rawValue: try container.decode(String.self, forKey: .code)),
            try container.decode(String.self, forKey: .message),
            suggestion: try container.decodeIfPresent(String.self, forKey: .suggestion),
            underlying: try container.decodeIfPresent(String.self, forKey: .underlying),
            recovery: try container.decodeIfPresent(Recovery.self, forKey: .recovery) ?? .permanent)
        phrase = Self.phrase(in: container, forKey: .phrase, of: message)
        suggestionPhrase = Self.phrase(in: container, forKey: .suggestionPhrase, of: suggestion)
    }

    /// The phrase under `key`; `nil` where it is of a newer version or its English text is no longer `text`.
    private static func phrase(
        in container: KeyedDecodingContainer<CodingKeys>, forKey key: CodingKeys, of text: String?
    ) -> ErrorPhrase? {
        let phrase = try? container.decode(ErrorPhrase.self, forKey: key)
        return phrase?.text(in: .english) == text ? phrase : nil
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code.rawValue, forKey: .code)
        try container.encode(message, forKey: .message)
        try container.encodeIfPresent(suggestion, forKey: .suggestion)
        try container.encodeIfPresent(underlying, forKey: .underlying)
        if recovery != .permanent { try container.encode(recovery, forKey: .recovery) }
        try container.encodeIfPresent(phrase, forKey: .phrase)
        try container.encodeIfPresent(suggestionPhrase, forKey: .suggestionPhrase)
        try container.encode(Translations { message(in: $0) }, forKey: .messages)
        if suggestion != nil { try container.encode(Translations { suggestion(in: $0) ?? "" }, forKey: .suggestions) }
    }
}

/// Coded as `{"kind": …}`; `transient` may have `retryAfter`, in seconds.
extension DownloadError.Recovery: Codable {
    private enum CodingKeys: String, CodingKey { case kind, retryAfter }
    private enum Kind: String { case transient, permanent, needsUser }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch try container.decodeKind(Kind.self, of: "recovery", forKey: .kind) {
        case .transient:
            let isTold = try container.contains(.retryAfter) && !container.decodeNil(forKey: .retryAfter)
            self = .transient(retryAfter: isTold ? try container.decodeSeconds(forKey: .retryAfter) : nil)
        case .permanent: self = .permanent
        case .needsUser: self = .needsUser
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .transient(let retryAfter):
            try container.encode(Kind.transient.rawValue, forKey: .kind)
            if let retryAfter { try container.encode(seconds: retryAfter, forKey: .retryAfter) }
        case .permanent: try container.encode(Kind.permanent.rawValue, forKey: .kind)
        case .needsUser: try container.encode(Kind.needsUser.rawValue, forKey: .kind)
        }
    }
}
