extension DownloadError {
    /// An error whose message and suggestion are known in every language.
    package init(
        _ code: Code, _ phrase: ErrorPhrase, suggestion: ErrorPhrase? = nil, underlying: String? = nil,
        recovery: Recovery = .permanent
    ) {
        self.init(
            code, phrase.text(in: .english), suggestion: suggestion?.text(in: .english), underlying: underlying,
            recovery: recovery)
        self.phrase = phrase
        suggestionPhrase = suggestion
    }

    /// An error that says why; in every language, where the reason is known in every language.
    package init(_ code: Code, _ reason: Reason, recovery: Recovery = .permanent) {
        switch reason {
        case .words(let words): self.init(code, words, recovery: recovery)
        case .phrase(let phrase): self.init(code, phrase, recovery: recovery)
        }
    }

    /// What failed, in that language; ``message`` is the English one.
    ///
    /// Where a message has no translation, the general sentence of its code comes first, then the English one.
    public func message(in language: Language) -> String {
        if let text = translation(phrase, of: message, in: language) { return text }
        if message.isEmpty { return code.sentence(in: language) }
        return language == .english ? message : "\(code.sentence(in: language))：\(message)"
    }

    /// The message as a reason: known in every language, where it has translations.
    package var reason: Reason {
        guard let phrase, phrase.text(in: .english) == message else { return .words(message) }
        return .phrase(phrase)
    }

    /// What the user can do, in that language; the English one where it has no translation.
    public func suggestion(in language: Language) -> String? {
        suggestion.map { translation(suggestionPhrase, of: $0, in: language) ?? $0 }
    }

    /// A phrase counts only while the English text is still the one that it gave.
    private func translation(_ phrase: ErrorPhrase?, of text: String, in language: Language) -> String? {
        guard let phrase, phrase.text(in: .english) == text else { return nil }
        return phrase.text(in: language)
    }
}

/// Two errors are equal when they say the same in English.
extension DownloadError {
    public static func == (left: DownloadError, right: DownloadError) -> Bool {
        left.code == right.code && left.message == right.message && left.suggestion == right.suggestion
            && left.underlying == right.underlying && left.recovery == right.recovery
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(message)
        hasher.combine(suggestion)
        hasher.combine(underlying)
        hasher.combine(recovery)
    }
}
