/// An error in parsing text from a user, a file or the environment: one line, ready for display.
///
/// The message never contains text that may be secret (header values, passwords).
public struct TextError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line of the file, counted from 1; `nil` if the text is not a file.
    public let line: Int?
    /// The message. It can be translated if it is a phrase.
    package let reason: Reason

    /// One line in English, without a full stop.
    public var message: String { reason.description }

    package init(_ reason: Reason, line: Int? = nil) {
        self.reason = reason
        self.line = line
    }

    package init(_ phrase: ErrorPhrase, line: Int? = nil) { self.init(.phrase(phrase), line: line) }

    /// `line 3: message`, or only the message.
    package var whole: Reason { line.map { "line \($0): \(reason)" } ?? reason }

    public var description: String { whole.description }

    /// Returns an excerpt of the user's text in quotes: at most 60 characters, control characters replaced by `?`.
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
