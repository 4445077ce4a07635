package import Ferry
import FerryCore

/// Formats errors as text, with the command to continue after one.
package enum ErrorText {
    /// Returns one line: file, failure, cause, and suggestion.
    ///
    /// - Parameter name: The file or URL. Omitted if the message already contains it, or if it is empty.
    package static func line(_ error: DownloadError, name: String, command: String? = nil) -> String {
        var text = error.message(in: .current)
        if let underlying = error.underlying, !underlying.isEmpty, !text.contains(underlying) {
            text += ": \(underlying)"
        }
        if !name.isEmpty, !isNamed(name, in: text) { text = "\(name): \(text)" }
        if let command {
            text += separator + ("to resume: \(command)" as Reason).local
        } else if let suggestion = error.suggestion(in: .current) ?? suggestion(for: error)?.local,
            !suggestion.isEmpty
        {
            text += separator + clause(suggestion)
        }
        return PrintableText.escape(text)
    }

    /// Whether the text contains this name as its first word, as the last component of a path, or as a whole URL.
    ///
    /// A substring is not enough: the file `c` is not named by "checksum".
    private static func isNamed(_ name: String, in text: String) -> Bool {
        if name.utf8.contains("://") { return text.utf8.contains(name) }
        if text.utf8.hasPrefix(name + " ") { return true }
        var rest = text[...]
        while let found = rest.utf8.firstRange(of: "/" + name) {
            let after = text[found.upperBound...]
            guard let next = after.utf8.first else { return true }
            if after.utf8.hasPrefix(ReservedName.part.text) || " :;,)".utf8.contains(next) { return true }
            rest = after
        }
        return false
    }

    /// Returns a suggestion specific to the command line, for errors without one.
    private static func suggestion(for error: DownloadError) -> Reason? {
        switch (error.code, error.phrase?.key) {
        case (.wrongState, .cannotResume?): "ferry restart downloads it again"
        case (.wrongState, .cannotCancel?): "ferry remove takes it off the list"
        case (.conflict, _): "choose another name with -o, or another rule with --on-conflict"
        // Only for a daemon that is not running: one that failed to start would fail again.
        case (.daemonUnavailable, .daemonSilent?), (.daemonUnavailable, .daemonAbsent?):
            "ferry add starts it, as does ferry serve"
        default: nil
        }
    }

    /// Returns the URL as a shell word; `nil` if its query is redacted, so that it would be a different URL.
    private static func typeable(_ url: String) -> String? { url.utf8.hasSuffix("?…") ? nil : ShellWord.quote(url) }

    private static var separator: String { Language.current.text(of: ("; ", "；")) }

    /// Turns a sentence into a clause: no initial capital, no full stop.
    private static func clause(_ sentence: String) -> String {
        let text = sentence.dropping(suffix: ".") ?? sentence[...]
        return text.prefix(1).lowercased() + text.dropFirst()
    }

    /// Returns the command to run after a failure that needs a new link or credentials; `nil` after every other.
    ///
    /// - Parameters:
    ///   - part: The path of the part file; `nil` if there is none.
    ///   - url: The redacted URL of the request.
    package static func command(after error: DownloadError, part: String?, url: String?) -> String? {
        switch (error.code, part) {
        case (.freshLink, let part?): "ferry get \(ShellWord.quote(part)) NEWURL"
        case (.freshLink, nil): "ferry get NEWURL"
        case (.credentials, let part?): "ferry get --user USER \(ShellWord.quote(part))"
        case (.credentials, nil): "ferry get --user USER \(url.flatMap(typeable) ?? "URL")"
        default: nil
        }
    }
}
