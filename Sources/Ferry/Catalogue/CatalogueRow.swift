package import FerryEngine
package import struct Foundation.Date

/// The stored state of one download, without secrets and history.
package struct CatalogueRow: Sendable, Hashable {
    package var id: DownloadID
    /// The session that the download belongs to.
    package var session: String
    package var key: QueueKey
    package var state: DownloadState
    /// Why the download is paused, if the user did not pause it.
    package var pauseReason: PauseReason?
    /// The error after which the download waits for its user or for disk space.
    package var waitError: DownloadError?
    package var name: String
    /// The path of the finished file, absolute; `nil` until the name is reserved.
    package var path: String?
    /// The part file to resume, absolute; `nil` if there is none yet.
    package var part: String?
    package var completedBytes: ByteCount
    package var totalBytes: ByteCount?
    package var request: DownloadRequest
    /// Whether the request had secrets; if they are missing, the download waits for credentials.
    package var hasSecrets: Bool
    package var label: String?
    package var userInfo: [String: String]
    package var createdAt: Date
    package var endedAt: Date?
    package var finished: FinishedDownload?
    /// The published file; during a restart, the previous one.
    package var published: PublishedFile?
    /// A file that was about to get its final name; `nil` once the result is known.
    package var announced: PublishedFile?
    /// Consecutive attempts without progress.
    package var attempts: Int
    /// When the next attempt may start.
    package var retryAt: Date?

    package init(
        id: DownloadID, session: String = "", key: QueueKey, state: DownloadState, name: String, path: String? = nil,
        part: String? = nil, completedBytes: ByteCount = 0, totalBytes: ByteCount? = nil, request: DownloadRequest,
        hasSecrets: Bool = false, label: String? = nil, userInfo: [String: String] = [:], createdAt: Date,
        endedAt: Date? = nil,
        finished: FinishedDownload? = nil, published: PublishedFile? = nil, announced: PublishedFile? = nil,
        attempts: Int = 0, retryAt: Date? = nil, pauseReason: PauseReason? = nil,
        waitError: DownloadError? = nil
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
        self.hasSecrets = hasSecrets
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
        self.waitError = waitError
    }

    /// The request with its identifier, label, user info and current priority.
    package func request(with secrets: Secrets?) -> DownloadRequest {
        var whole = request.join(secrets)
        whole.id = id
        whole.label = label
        whole.userInfo = userInfo
        whole.priority = DownloadPriority(rawValue: key.priority)
        return whole
    }

    /// The index entry of this row.
    package var entry: IndexEntry {
        IndexEntry(
            id: id, key: key, kind: StateKind(state), network: request.network, host: request.indexedHost,
            session: session,
            wakeAt: IndexEntry.wakeAt(StateKind(state), notBefore: request.notBefore, retryAt: retryAt),
            leavesJournal: StateKind(state) == .completed && (part != nil || announced != nil))
    }
}
