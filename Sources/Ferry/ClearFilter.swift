/// Which ended downloads ``DownloadManager/clear(_:deletingFiles:)`` takes off the list.
public enum ClearFilter: String, Sendable, Hashable, Codable, CaseIterable {
    /// Completed ones; their files stay, unless they are to be deleted.
    case completed
    /// Failed ones and, with them, what they hold.
    case failed
    /// Cancelled ones.
    case cancelled
    /// Everything that has ended.
    case all

    var kinds: Set<StateKind> {
        switch self {
        case .completed: [.completed]
        case .failed: [.failed]
        case .cancelled: [.cancelled]
        case .all: [.completed, .failed, .cancelled]
        }
    }
}
