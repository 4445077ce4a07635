package import FerryCore

/// An error in a response: all members of ``FerryCore/DownloadError``, and its sentences in both languages.
package struct ErrorBody: Codable, Sendable, Hashable {
    package var error: DownloadError

    package init(_ error: DownloadError) { self.error = error }

    private enum CodingKeys: String, CodingKey { case messages, suggestions }

    package init(from decoder: any Decoder) throws { error = try DownloadError(from: decoder) }

    package func encode(to encoder: any Encoder) throws {
        try error.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Translations { error.message(in: $0) }, forKey: .messages)
        if error.suggestion != nil {
            try container.encode(Translations { error.suggestion(in: $0) ?? "" }, forKey: .suggestions)
        }
    }
}
