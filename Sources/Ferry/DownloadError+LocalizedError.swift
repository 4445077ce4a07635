public import FerryCore

#if canImport(FoundationEssentials)
    public import protocol FoundationEssentials.LocalizedError
#else
    public import protocol Foundation.LocalizedError
#endif

/// Texts in the language of the process; ``DownloadError/message(in:)`` returns the text in any supported language.
extension DownloadError: LocalizedError {
    public var errorDescription: String? { message(in: .current) }
    public var failureReason: String? { underlying }
    public var recoverySuggestion: String? { recoverySuggestion(in: .current) }
}
