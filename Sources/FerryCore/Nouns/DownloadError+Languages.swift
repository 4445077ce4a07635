extension DownloadError {
    /// Creates an error with a message and suggestion that are translated into every language.
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

    /// Creates an error with `reason` as its message, translated if the reason is a phrase.
    package init(_ code: Code, _ reason: Reason, recovery: Recovery = .permanent) {
        switch reason {
        case .words, .pattern: self.init(code, reason.description, recovery: recovery)
        case .phrase(let phrase): self.init(code, phrase, recovery: recovery)
        }
    }

    /// Returns the message in `language`; ``message`` is the English one.
    ///
    /// A message without a translation is the code's general sentence followed by the English text.
    public func message(in language: Language) -> String {
        if let phrase { return phrase.text(in: language) }
        if message.isEmpty { return code.sentence(in: language) }
        return language == .english ? message : "\(code.sentence(in: language))：\(message)"
    }

    /// The message as a reason: a phrase if it has translations.
    package var reason: Reason { phrase.map { .phrase($0) } ?? .words(message) }

    /// Returns the suggestion in `language`, or in English if it has no translation.
    public func suggestion(in language: Language) -> String? {
        suggestionPhrase?.text(in: language) ?? suggestion
    }
}

/// Errors are equal when their codes, English texts and recoveries are equal; translations do not count.
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
