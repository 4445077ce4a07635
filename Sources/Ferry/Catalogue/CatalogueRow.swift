package import struct Foundation.Date

/// All that is remembered of one download, secrets and history apart.
package struct CatalogueRow: Sendable, Hashable {
    package var id: DownloadID
    /// The app that it belongs to.
    package var session: String
    package var key: QueueKey
    package var state: DownloadState
    /// Why it is paused, where nobody asked for that.
    package var pauseReason: PauseReason?
    package var name: String
    /// Where the finished file is or will be, absolute; `nil` until its name is taken.
    package var path: String?
    /// The part file that it goes on with, absolute; `nil` where there is none yet.
    package var part: String?
    package var completedBytes: ByteCount
    package var totalBytes: ByteCount?
    package var request: StoredRequest
    package var label: String?
    package var userInfo: [String: String]
    package var createdAt: Date
    package var endedAt: Date?
    package var finished: FinishedDownload?
    /// The file as it was when it got its name; while it is fetched again, that of the time before.
    package var published: FileStamp?
    /// A small file that was about to get its name; `nil` once it is told whether it did.
    package var announced: AnnouncedFile?
    /// Attempts without progress so far.
    package var attempts: Int
    /// When the next attempt may start.
    package var retryAt: Date?

    package init(
        id: DownloadID, session: String = "", key: QueueKey, state: DownloadState, name: String, path: String? = nil,
        part: String? = nil, completedBytes: ByteCount = 0, totalBytes: ByteCount? = nil, request: StoredRequest,
        label: String? = nil, userInfo: [String: String] = [:], createdAt: Date, endedAt: Date? = nil,
        finished: FinishedDownload? = nil, published: FileStamp? = nil, announced: AnnouncedFile? = nil,
        attempts: Int = 0, retryAt: Date? = nil, pauseReason: PauseReason? = nil
    ) {
        self.id = id
        self.session = session
        self.key = key
        self.state = state
        self.name = name
        self.path = path
        self.part = part
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
        self.request = request
        self.label = label
        self.userInfo = userInfo
        self.createdAt = createdAt
        self.endedAt = endedAt
        self.finished = finished
        self.published = published
        self.announced = announced
        self.attempts = attempts
        self.retryAt = retryAt
        self.pauseReason = pauseReason
    }

    /// The request as the app made it, with its identifier, label, user info and today's priority.
    package func request(with secrets: Secrets?) -> DownloadRequest {
        var whole = request.join(secrets)
        whole.id = id
        whole.label = label
        whole.userInfo = userInfo
        whole.priority = DownloadPriority(rawValue: key.priority)
        return whole
    }

    /// What the index keeps of it.
    package var entry: IndexEntry {
        IndexEntry(
            id: id, key: key, kind: StateKind(state), network: request.network, host: request.sources.first?.host ?? "",
            session: session,
            wakeAt: IndexEntry.wakeAt(StateKind(state), notBefore: request.notBefore, retryAt: retryAt),
            leavesJournal: StateKind(state) == .completed && (part != nil || announced != nil))
    }
}
