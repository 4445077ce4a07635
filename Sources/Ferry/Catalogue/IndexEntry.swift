package import struct Foundation.Date

/// The fields that the queue keeps of every listed download; few, since there may be 100,000 downloads.
package struct IndexEntry: Sendable, Hashable {
    package var id: DownloadID
    package var key: QueueKey
    package var kind: StateKind
    /// The networks that the download may use.
    package var network: NetworkRule
    /// The host of the download's own proxy, else of its first source, one string shared by all entries of a host; empty
    /// if there is none.
    package var host: String
    /// The session that added the download, one string shared by all entries of a session.
    package var session: String
    /// The later one of the next attempt and the earliest start; for a failed download, the next attempt alone, for a
    /// paused one, the earliest start alone. `nil` for at once, or never.
    package var wakeAt: Date?
    /// Whether a completed download may still have its journal, or its file was being moved.
    package var leavesJournal: Bool

    package init(
        id: DownloadID, key: QueueKey, kind: StateKind, network: NetworkRule = NetworkRule(), host: String = "",
        session: String = "", wakeAt: Date? = nil, leavesJournal: Bool = false
    ) {
        self.id = id
        self.key = key
        self.kind = kind
        self.network = network
        self.host = host
        self.session = session
        self.wakeAt = wakeAt
        self.leavesJournal = leavesJournal
    }

    static func wakeAt(_ kind: StateKind, notBefore: Date?, retryAt: Date?) -> Date? {
        if kind.isFinal { return retryAt }
        if kind == .paused { return notBefore }
        guard let notBefore, let retryAt else { return notBefore ?? retryAt }
        return max(notBefore, retryAt)
    }
}
