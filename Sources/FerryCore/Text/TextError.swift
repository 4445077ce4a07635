/// What is wrong with a text that a user, a file or the environment gave: one line, fit to be shown as it is.
///
/// It never quotes what may be a secret (header values, passwords).
public struct TextError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line of the file, counted from 1; `nil` when the text is not a file.
    public let line: Int?
    /// The message, in every language where it is known so.
    package let reason: Reason

    /// One line without a full stop, in English.
    public var message: String { reason.description }

    /// Takes a message as it is.
    public init(_ message: String, line: Int? = nil) {
        reason = .words(message)
        self.line = line
    }

    /// Takes a sentence that is known in every language.
    package init(_ phrase: ErrorPhrase, line: Int? = nil) {
        reason = .phrase(phrase)
        self.line = line
    }

    /// `line 3: message`, or the message alone.
    public var description: String { line.map { "line \($0): \(message)" } ?? message }

    /// A piece of the user's text in quotes, fit for one line: control characters as `?`, at most 60 characters.
    package static func quote(_ text: some StringProtocol) -> String {
        var shown = ""
        var count = 0
        for scalar in text.unicodeScalars {
            if count == 60 {
                shown += "…"
                break
            }
            count += 1
            let isUnprintable: Bool
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: isUnprintable = true
            default: isUnprintable = false
            }
            shown.unicodeScalars.append(isUnprintable ? "?" : scalar)
        }
        return "\"\(shown)\""
    }
}
