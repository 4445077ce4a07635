public import FerryCore
public import protocol Foundation.LocalizedError

/// In the language of the process; ``DownloadError/message(in:)`` gives another.
extension DownloadError: LocalizedError {
    public var errorDescription: String? { message(in: .current) }
    public var failureReason: String? { underlying }
    public var recoverySuggestion: String? { suggestion(in: .current) }
}
