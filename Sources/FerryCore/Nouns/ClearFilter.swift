/// The ended downloads that ``DownloadManager/clear(_:deletingFiles:)`` removes from the list.
public enum ClearFilter: String, Sendable, Hashable, Codable, CaseIterable {
    /// Completed downloads; their files are kept unless `deletingFiles` is set.
    case completed
    /// Failed downloads, with their part files and journals.
    case failed
    /// Cancelled downloads.
    case cancelled
    /// Completed, failed and cancelled downloads.
    case all
}
