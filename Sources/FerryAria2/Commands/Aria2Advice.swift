import FerryCore
import FerryTerminal

/// The suggestions of `aria2c`, in place of suggestions that name options of `ferry get`. In English, like all output of
/// this command. Pure.
enum Aria2Advice {
    /// Returns one line: the failure, its cause, and a suggestion that uses only the options of aria2c.
    static func line(_ error: DownloadError) -> String {
        [known(error.message) ?? error.message, error.underlying, suggestion(for: error)].compactMap(\.self).joined(
            separator: "; ")
    }

    /// Returns the suggestion for an error; `nil` if aria2c has no option for it.
    static func suggestion(for error: DownloadError) -> String? {
        guard let phrase = error.suggestionPhrase, let own = replacements[phrase.key] else {
            return error.suggestion.flatMap(known)
        }
        return Reason.pattern(own, phrase.arguments).description
    }

    /// Returns a text without the clauses and parentheses that name options which aria2c does not have; `nil` if nothing
    /// remains.
    static func known(_ text: String) -> String? {
        var text = text
        while let open = text.utf8.firstRange(of: " (--"),
            let close = text[open.upperBound...].utf8.firstIndex(of: 0x29),
            !hasKnownOptions(text[open.lowerBound..<close])
        {
            text.removeSubrange(open.lowerBound...close)
        }
        let clauses = text.split(at: ";").map { $0.dropping(prefix: " ") ?? $0 }
        let known = clauses.filter(hasKnownOptions)
        if known.count == clauses.count { return text }
        return known.isEmpty ? nil : known.joined(separator: "; ")
    }

    private static func hasKnownOptions(_ clause: Substring) -> Bool {
        var rest = clause
        while let dashes = rest.utf8.firstRange(of: "--") {
            rest = rest[dashes.upperBound...]
            let name = rest.prefix { $0.isLowercase || $0.isNumber || $0 == "-" }
            // In aria2, the value of `--checksum` is always a digest.
            let isKnown = name.isEmpty || Aria2Option.named(String(name))?.command == .applied
            guard isKnown, !rest.utf8.hasPrefix("checksum none") else { return false }
        }
        return true
    }

    private static let replacements: [ErrorPhrase.Key: String] = [
        .giveCredentials:
            "Give --http-user and --http-passwd, or --header, and run it again; the received part is kept.",
        .giveCredentialsFirst: "Give --http-user and --http-passwd, or --header, and run it again.",
        .signInAgain:
            "Get past the page in a browser and run it again; after a login there give its cookies with --load-cookies, or give a fresh link.",
        .freshLinkOrThis: "Give a fresh link for the same file; the received part is kept.",
        .giveOwnChecksum: "The server may send a wrong Content-Digest. Give the file's own --checksum.",
        .keptMarked:
            "Kept as {0}; another compares it, and ferry get --checksum none with that file accepts it.",
        .keptMarkedOf:
            "Kept as {0}; the checksum {1}; another compares it, and ferry get --checksum none with that file accepts it.",
        .giveNameOfCertificate:
            "Write the name that the certificate is for in the URL; --check-certificate=false would trust anyone.",
        .giveAuthority: "Give the authority with --ca-certificate; --check-certificate=false would trust anyone.",
        .giveCertificate:
            "If it is the server's own, give it with --ca-certificate; --check-certificate=false would trust anyone.",
        .writeProxyCredentials: "Give them with --all-proxy-user and --all-proxy-passwd.",
    ]
}
