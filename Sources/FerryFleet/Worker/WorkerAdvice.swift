import FerryCore
import FerryTerminal

/// The suggestions of `ferry work`, in place of suggestions that name options which it does not have. Pure.
enum WorkerAdvice {
    /// Returns the error with a suggestion for the user of a worker, or without one.
    static func advised(_ error: DownloadError) -> DownloadError {
        var error = error
        // `ErrorText` has suggestions of its own for errors whose suggestion is `nil`.
        error.suggestion = suggestion(for: error)?.local ?? ""
        return error
    }

    /// Returns the suggestion for an error; `nil` if `ferry work` has no option for it.
    static func suggestion(for error: DownloadError) -> Reason? {
        guard let phrase = error.suggestionPhrase, let text = error.suggestion else {
            return error.suggestion.map { .words($0) }
        }
        if let own = replacements[phrase.key] { return own }
        return OptionAdvice.options(in: text).isEmpty ? .phrase(phrase) : nil
    }

    private static let again: Reason = "ferry fleet retry requests it again."
    private static let credentials: Reason =
        "Give a worker the header with --header @FILE, and its server with --header-server."
    private static let ownLink: Reason = "Add a link that leads to the file itself."
    private static let ownChecksum: Reason = "Correct the checksum in the list if it is wrong."
    private static let authority: Reason = "Name a file with its authority in SSL_CERT_FILE."

    private static let replacements: [ErrorPhrase.Key: Reason] = [
        .runAgain: again, .runAnew: again, .continueWithRest: again, .waitForOther: again,
        .giveCredentials: credentials, .giveCredentialsFirst: credentials, .giveField: credentials,
        .giveTargetLink: "Add a link to that server itself.", .signInAgain: ownLink, .freshLinkOrThis: ownLink,
        .giveOwnChecksum: "The server may send a wrong Content-Digest. Give the file's own checksum in the list.",
        .keptMarked: ownChecksum, .keptMarkedOf: ownChecksum,
        .allowPrivate: "If this address is meant, allow it with --allow-private.",
        .giveNameOfCertificate: "Write the name that the certificate is for in the list.",
        .giveAuthority: authority, .giveCertificate: authority,
        .writeProxyCredentials: "Write them in http_proxy, https_proxy or all_proxy: http://USER:PASSWORD@HOST:PORT.",
    ]
}
