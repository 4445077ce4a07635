package import FerryCore

/// The reason for a failure in a result: a word that programs compare, and the HTTP status, if any.
package struct FailureReason: Sendable, Hashable {
    /// The code of the error, or `timeout` for a network failure that was a timeout.
    package let word: String
    package let httpStatus: Int?

    /// The word for a connection that was not established, answered or served in time.
    static let timeout = "timeout"

    package init(_ error: DownloadError) {
        let phrases = error.phrase.map(Self.phrases) ?? []
        let isLate = phrases.contains { Self.late.contains($0.key) }
        word = isLate && error.code == .network ? Self.timeout : error.code.rawValue
        httpStatus =
            phrases.filter { Self.answers.contains($0.key) }.flatMap(\.arguments)
            .compactMap { Int($0.description) }.first { Self.statuses.contains($0) }
    }

    /// All words for failures, sorted.
    static let words = (DownloadError.Code.known.map(\.rawValue) + [timeout]).sorted()
    static let statuses = 100...599

    private static let late: Set<ErrorPhrase.Key> = [
        .stalled, .slowBody, .noAnswerInTime, .noConnectionInTime, .noHandshakeInTime, .connectTimedOut,
    ]
    private static let answers: Set<ErrorPhrase.Key> = [
        .serverAnswered, .serverAnsweredFor, .answered, .answeredNoFile, .unusableList,
    ]

    /// Returns the phrase and the phrases in its placeholders.
    private static func phrases(_ phrase: ErrorPhrase) -> [ErrorPhrase] {
        [phrase]
            + phrase.arguments.flatMap { argument -> [ErrorPhrase] in
                if case .phrase(let inner) = argument { phrases(inner) } else { [] }
            }
    }
}
