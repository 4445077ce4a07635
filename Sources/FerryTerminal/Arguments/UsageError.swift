/// What is wrong with what was asked for: one line, found before a byte is fetched; the exit code is 2.
package struct UsageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One line, without secrets and without a full stop.
    package let message: String

    package init(_ message: String) { self.message = PrintableText.escape(message) }

    package var description: String { message }
}
