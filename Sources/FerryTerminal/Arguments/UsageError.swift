package import FerryCore

/// An invalid command line, detected before any byte is downloaded. Exit code 2.
package struct UsageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A single line without secrets and without a trailing full stop.
    package let message: String
    /// The error code for JSON output: `notFound` for a name that matches no download.
    package let code: DownloadError.Code

    package init(_ message: String, code: DownloadError.Code = .invalidRequest) {
        self.message = PrintableText.escape(message)
        self.code = code
    }

    package var description: String { message }
}
