package import struct Foundation.Date

/// What the queue must know of every listed download, and no more: there may be 100,000 of them.
package struct IndexEntry: Sendable, Hashable {
    package var id: DownloadID
    package var key: QueueKey
    package var kind: StateKind
    /// Which networks it may use.
    package var network: NetworkRule
    /// The host of its first source, one text for all entries of a host; empty when it has none.
    package var host: String
    /// Who asked for it, one text for all entries of a session.
    package var session: String
    /// The later one of its next attempt and its earliest start; for one that has failed, the next attempt alone.
    /// `nil` for at once, or never.
    package var wakeAt: Date?
    /// It is completed, and its journal may still be there, or its file was being moved.
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
        guard let notBefore, let retryAt else { return notBefore ?? retryAt }
        return max(notBefore, retryAt)
    }
}
