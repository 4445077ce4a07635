package import FerryCore

/// What is wrong with what was asked for: one line, found before a byte is fetched; the exit code is 2.
package struct UsageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One line, without secrets and without a full stop.
    package let message: String
    /// What kind of failure it is where one is told as JSON: `notFound` for a name that matches nothing.
    package let code: DownloadError.Code

    package init(_ message: String, code: DownloadError.Code = .invalidRequest) {
        self.message = PrintableText.escape(message)
        self.code = code
    }

    package var description: String { message }
}
