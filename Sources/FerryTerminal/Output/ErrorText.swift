package import Ferry
import FerryCore

/// Formats errors as text, with the command that resumes the download.
package enum ErrorText {
    /// Returns one line: file, failure, cause, and suggestion.
    ///
    /// - Parameters:
    ///   - name: The file or URL. Omitted if the message already contains it, or if it is empty.
    ///   - isBrief: Whether to omit the suggestion and the command, as in the rows of a list.
    package static func line(
        _ error: DownloadError, name: String, command: String? = nil, isBrief: Bool = false
    ) -> String {
        var text = error.message(in: .current)
        if let underlying = error.underlying, !underlying.isEmpty, !text.contains(underlying) {
            text += ": \(underlying)"
        }
        let lacksName = !name.isEmpty && !isNamed(name, in: text)
        text = (lacksName ? "\(name): " : "") + shortened(text)
        if isBrief { return PrintableText.escape(text) }
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
        case (.wrongState, .cannotRestart?) where error.phrase?.arguments.last == Reason(.itHasFailed):
            "ferry resume tries it again"
        case (.wrongState, .cannotCancel?): "ferry remove takes it off the list"
        case (.conflict, .otherThanDownloaded?): "without --delete-files it leaves the list, and the file stays"
        case (.conflict, _): "choose another name with -o, or another rule with --on-conflict"
        // Only for a daemon that is not running. If a daemon failed to start, it would fail again.
        case (.daemonUnavailable, .daemonSilent?), (.daemonUnavailable, .daemonAbsent?):
            "ferry add starts it, as does ferry serve"
        default: nil
        }
    }

    /// Returns the error of `ferry get`, with a suggestion that fits its arguments: for a file in use, another name with `-o`,
    /// unless the argument is a part file; for a private address, to omit `--no-private`.
    package static func advised(
        _ error: DownloadError, for destination: DownloadRequest.Destination
    ) -> DownloadError {
        if error.suggestionPhrase?.key == .allowPrivate { return error.suggesting(ErrorPhrase(.leaveOutNoPrivate)) }
        if case .part = destination { return error }
        return error.suggestionPhrase?.key == .waitForOther ? error.suggesting(ErrorPhrase(.waitOrRename)) : error
    }

    /// Returns the URL as a shell word; `nil` if its query is redacted, because the result would be a different URL.
    private static func typeable(_ url: String) -> String? { url.utf8.hasSuffix("?…") ? nil : ShellWord.quote(url) }

    /// Returns the text with only the first digits of each digest, so that it fits on a line or two; JSON has all digits.
    /// Different digests with the same first digits are not shortened.
    private static func shortened(_ text: String) -> String {
        var short = ""
        var digests: [Substring: Substring] = [:]
        var rest = text[...]
        while !rest.isEmpty {
            let word = rest.prefix { !$0.isHexDigit }
            short += word
            rest = rest[word.endIndex...]
            let digits = rest.prefix { $0.isHexDigit }
            let follows = short.utf8.hasSuffix("=")
            let isDigest = follows && digits.count >= 32
            if isDigest, digests.updateValue(digits, forKey: digits.prefix(8)) ?? digits != digits { return text }
            short += isDigest ? digits.prefix(8) + "…" : digits
            rest = rest[digits.endIndex...]
        }
        return short
    }

    static var separator: String { Language.current.text(of: ("; ", "；")) }

    /// Turns a sentence into a clause: no initial capital, no full stop.
    private static func clause(_ sentence: String) -> String {
        let text = sentence.dropping(suffix: ".") ?? sentence[...]
        return text.prefix(1).lowercased() + text.dropFirst()
    }

    /// Returns the command to run after a failure that needs a new link or credentials; `nil` for other failures.
    ///
    /// - Parameters:
    ///   - part: The path of the part file, whose journal stores the request; `nil` if there is none.
    ///   - url: The redacted URL of the request.
    ///   - options: The options of the command that failed, as shell words.
    package static func command(
        after error: DownloadError, part: String?, url: String?, options: String = ""
    ) -> String? {
        // After signing in, or to accept the response, the user runs the same command again.
        if [.pageInstead, .documentInstead, .unprovenInstead].contains(error.phrase?.key) { return nil }
        let options = options.isEmpty ? "" : options + " "
        // The credentials of a command would not be sent to the target of a redirect.
        if error.suggestionPhrase?.key == .giveTargetLink { return nil }
        let access = error.phrase?.key == .asksForField ? "-H 'Authorization: …'" : "--user USER"
        return switch (error.code, part) {
        case (.freshLink, let part?): "ferry get \(ShellWord.quote(part)) NEWURL"
        case (.freshLink, nil): "ferry get \(options)NEWURL"
        case (.credentials, let part?): "ferry get \(access) \(ShellWord.quote(part))"
        case (.credentials, nil): "ferry get \(access) \(options)\(url.flatMap(typeable) ?? "URL")"
        default: nil
        }
    }
}
