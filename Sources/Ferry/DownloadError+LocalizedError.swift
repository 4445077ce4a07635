public import FerryCore
public import protocol Foundation.LocalizedError

/// Texts in the language of the process; ``DownloadError/message(in:)`` returns another.
extension DownloadError: LocalizedError {
    public var errorDescription: String? { message(in: .current) }
    public var failureReason: String? { underlying }
    public var recoverySuggestion: String? { suggestion(in: .current) }
}
