package import Ferry
import FerryCore

/// A failure in words for a person, and the command that goes on after it.
package enum ErrorText {
    /// One line: which file, what failed, why, and what can be done.
    ///
    /// - Parameter name: The file or URL; left out where the message names it already or when it is empty.
    package static func line(_ error: DownloadError, name: String, command: String? = nil) -> String {
        var text = error.message
        if let underlying = error.underlying, !underlying.isEmpty, !text.contains(underlying) {
            text += ": \(underlying)"
        }
        if !name.isEmpty, !isNamed(name, in: text) { text = "\(name): \(text)" }
        if let command {
            text += "; go on with: \(command)"
        } else if let suggestion = error.suggestion ?? suggestion(for: error), !suggestion.isEmpty {
            text += "; \(clause(suggestion))"
        }
        return PrintableText.escape(text)
    }

    /// Whether the text names this file: as its first word, as the last name of a path, or a URL in full.
    ///
    /// A short name is part of many words: `c` of "checksum" says nothing about the file `c`.
    private static func isNamed(_ name: String, in text: String) -> Bool {
        if name.utf8.contains("://") { return text.utf8.contains(name) }
        if text.utf8.hasPrefix(name + " ") { return true }
        var rest = text[...]
        while let found = rest.utf8.firstRange(of: "/" + name) {
            let after = text[found.upperBound...]
            guard let next = after.utf8.first else { return true }
            if after.utf8.hasPrefix(".part") || " :;,)".utf8.contains(next) { return true }
            rest = after
        }
        return false
    }

    /// What a command line can do where the library has no words for it.
    private static func suggestion(for error: DownloadError) -> String? {
        switch error.code {
        case .conflict: "choose another name with -o, or another rule with --on-conflict"
        // One that could not be started is not started by trying the same again.
        case .daemonUnavailable where error.phrase?.key == .daemonSilent: "ferry add starts it, as does ferry serve"
        default: nil
        }
    }

    /// A URL as it can be typed; `nil` when its query is not shown, so that it would lead elsewhere.
    private static func typeable(_ url: String) -> String? { url.utf8.hasSuffix("?…") ? nil : ShellWord.quote(url) }

    /// A sentence as a part of another: no capital at its start, no full stop at its end.
    private static func clause(_ sentence: String) -> String {
        let text = sentence.dropping(suffix: ".") ?? sentence[...]
        return text.prefix(1).lowercased() + text.dropFirst()
    }

    /// What to type after a failure that needs a fresh link or credentials; `nil` after every other.
    ///
    /// - Parameters:
    ///   - part: The path of the part file; `nil` when nothing is held.
    ///   - url: The URL that was asked for, as it may be shown.
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
