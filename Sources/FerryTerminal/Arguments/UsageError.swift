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
}

extension Reason {
    /// The text in the user's language.
    var local: String { text(in: .current) }
    /// The same, for the terminal.
    var shown: String { PrintableText.escape(local) }
}
