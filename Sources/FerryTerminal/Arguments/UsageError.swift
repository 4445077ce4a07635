import Ferry
package import FerryCore

/// An invalid command line, detected before any byte is downloaded. Exit code 2.
package struct UsageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A single line without secrets and without a trailing full stop.
    package let reason: Reason
    /// The error code for JSON output: `notFound` for a name that matches no download.
    package let code: DownloadError.Code

    package init(_ reason: Reason, code: DownloadError.Code = .invalidRequest) {
        self.reason = reason
        self.code = code
    }

    /// The message in English.
    package var message: String { PrintableText.escape(reason.description) }

    package var description: String { message }

    static let emptyDirectory = UsageError("the name of the directory is empty: . is the current directory")
}

extension Reason {
    /// The text in the user's language.
    package var local: String { text(in: .current) }
    /// The same text, escaped for the terminal.
    package var shown: String { PrintableText.escape(local) }
}

/// The value of `--user`: a name, an optional password, and an optional server.
package struct UserWord: Sendable, Hashable {
    package var user: String
    /// `nil` if the password must be prompted for.
    package var password: String?
    /// `nil` if the value names no server.
    package var server: Origin?

    /// Parses `NAME` or `NAME:PASSWORD`, where an `@` belongs to the name or the password.
    package init(_ text: String) throws(UsageError) {
        let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        guard !text.isEmpty else { throw UsageError("--user needs USER or USER:PASSWORD") }
        user = String(text[..<(colon ?? text.endIndex)])
        password = colon.map { String(text[text.utf8.index(after: $0)...]) }
    }

    /// Parses `NAME@HOST`, `NAME:PASSWORD@HOST`, or one of the forms without a server. The server is the text after
    /// the last `@`: `HOST` or `HOST:PORT` for https, `http://HOST` or `http://HOST:PORT` for http.
    ///
    /// The error message omits the server text, because it may be part of a password.
    init(namingServer text: String) throws(UsageError) {
        guard let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else {
            try self.init(text)
            return
        }
        let name = String(text[..<at])
        let host = String(text[text.utf8.index(after: at)...])
        guard !name.isEmpty, let server = Origin(host.utf8.contains("://") ? host : "https://" + host) else {
            throw UsageError("--user: without a URL it is NAME@HOST, and what follows the last @ is not a host")
        }
        try self.init(name)
        self.server = server
    }
}
