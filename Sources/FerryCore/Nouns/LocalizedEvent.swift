/// An event as the engine reports it: `kind` has the reason in English, `reason` in every language.
package struct LocalizedEvent: Sendable, Hashable {
    package let kind: DownloadEvent.Kind
    /// The translatable reason, message or text of `kind`; `nil` where the kind has none.
    package let reason: Reason?

    package init(_ kind: DownloadEvent.Kind, reason: Reason? = nil) {
        self.kind = kind
        self.reason = reason
    }

    package static func resumed(offset: ByteCount, totalBytes: ByteCount?, reason: Reason) -> LocalizedEvent {
        LocalizedEvent(.resumed(offset: offset, totalBytes: totalBytes, reason: reason.description), reason: reason)
    }

    package static func retrying(attempt: Int, delay: Duration, reason: Reason) -> LocalizedEvent {
        LocalizedEvent(.retrying(attempt: attempt, delay: delay, reason: reason.description), reason: reason)
    }

    package static func restarted(reason: Reason) -> LocalizedEvent {
        LocalizedEvent(.restarted(reason: reason.description), reason: reason)
    }

    package static func waiting(_ wait: WaitReason, message: Reason) -> LocalizedEvent {
        LocalizedEvent(.waiting(wait, message: message.description), reason: message)
    }

    package static func note(_ text: Reason) -> LocalizedEvent { LocalizedEvent(.note(text.description), reason: text) }
}

/// Coded as its kind, with the translatable form in `phrase` if there is one; a phrase of a newer version is ignored.
extension LocalizedEvent: Codable {
    private enum CodingKeys: String, CodingKey { case phrase }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let phrase = try? container.decode(ErrorPhrase.self, forKey: .phrase)
        self.init(try DownloadEvent.Kind(from: decoder), reason: phrase.map { Reason.phrase($0) })
    }

    package func encode(to encoder: any Encoder) throws {
        try kind.encode(to: encoder)
        guard case .phrase(let phrase)? = reason else { return }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(phrase, forKey: .phrase)
    }
}
