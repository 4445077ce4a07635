import FerryCore
package import FerryEngine

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// The stored state of one download, without secrets and history.
package struct CatalogueRow: Sendable, Hashable {
    package var id: DownloadID
    /// The session that the download belongs to.
    package var session: String
    package var key: QueueKey
    package var state: DownloadState
    /// Why the download is paused, if the user did not pause it.
    package var pauseReason: PauseReason?
    /// The error after which the download waits for the user or for disk space.
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
    /// The published file; while the download is being restarted, the file that the previous run published.
    package var published: PublishedFile?
    /// The file that is about to be renamed to its final name; `nil` once the result of the rename is known.
    package var announced: PublishedFile?
    /// The number of consecutive attempts without progress.
    package var attempts: Int
    /// When the next attempt may start; `Date.never` if the user has stopped the retries of a failed
    /// download.
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

    /// The date at which a failed download is retried automatically if `retriesFailedAfter` is `delay`; `nil` if it is not retried.
    package func retryDate(after delay: Duration?) -> Date? {
        guard retryAt != .never, case .failed(let error) = state else { return nil }
        return error.retryDate(after: delay, from: endedAt ?? createdAt)
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

extension CatalogueRow {
    /// Sets a field, and the fields that depend on it.
    mutating func set(_ field: RowField) {
        switch field {
        case .state(let new):
            state = new
            pauseReason = nil
            waitError = nil
            guard !new.isFinal else { return }
            endedAt = nil
            finished = nil
        case .paused(let reason):
            set(.state(.paused))
            pauseReason = reason
        case .waiting(let reason, let error):
            set(.state(.waiting(reason)))
            waitError = error
        case .name(let new, let newPath):
            name = new
            path = newPath
        case .progress(let completed, let total):
            completedBytes = completed
            totalBytes = total
        case .request(let new, let has):
            request = new
            hasSecrets = has
        case .label(let new): label = new
        case .userInfo(let new): userInfo = new
        case .attempts(let count, let date):
            attempts = count
            retryAt = date
        case .part(let new): part = new
        case .announced(let new): announced = new
        case .published(let new): published = new
        case .file(let new, let file):
            finished = new
            published = file
            announced = nil
            take(pathOf: new)
        }
    }

    /// Applies the end of a run.
    mutating func end(_ ending: Ending) {
        state = ending.state
        pauseReason = nil
        waitError = nil
        endedAt = ending.date
        finished = nil
        announced = nil
        retryAt = nil
        switch ending.outcome {
        case .completed(let new, let file):
            finished = new
            published = file
            if !ending.leavesJournal { part = nil }
            attempts = 0
            completedBytes = new.totalBytes
            totalBytes = new.totalBytes
            take(pathOf: new)
        case .cancelled:
            part = nil
            attempts = 0
        case .failed: break
        }
    }

    private mutating func take(pathOf file: FinishedDownload) {
        guard !file.path.isEmpty else { return }
        path = file.path
        name = Paths.name(of: file.path)
    }
}

/// A field of a row with its new value.
package enum RowField: Sendable, Hashable {
    /// A new state. The end of a run is stored with ``StoreChange/end(_:_:)`` instead. A state that is not final clears
    /// ``CatalogueRow/endedAt`` and `finished`; every state clears `pauseReason` and `waitError`.
    case state(DownloadState)
    /// Paused for this reason, not by the user.
    case paused(PauseReason)
    /// Waiting for the user or for disk space after this error.
    case waiting(WaitReason, after: DownloadError)
    /// The name, and the path of the finished file once the name is reserved.
    case name(String, path: String?)
    case progress(completedBytes: ByteCount, totalBytes: ByteCount?)
    /// The sources, limits and rules, in the form of ``FerryCore/DownloadRequest/stored``.
    case request(DownloadRequest, hasSecrets: Bool)
    case label(String?)
    case userInfo([String: String])
    /// The number of consecutive attempts without progress, and when the next attempt may start.
    case attempts(Int, retryAt: Date?)
    /// The part file to resume.
    case part(String?)
    /// A file that is about to be renamed to its final name, or to be moved.
    case announced(PublishedFile?)
    /// The published file that the next run may replace.
    case published(PublishedFile?)
    /// The finished file has been moved; also updates name, path, announcement and unacknowledged events.
    case file(FinishedDownload, PublishedFile?)
}

extension DownloadError {
    /// The date at which a download that failed with this error at `end` is retried automatically; `nil` if `delay` is `nil` or if
    /// a retry would give the same result.
    func retryDate(after delay: Duration?, from end: Date) -> Date? {
        guard let delay, recovery != .permanent else { return nil }
        return min(end.addingTimeInterval(delay.seconds), .lastRetry).asStored
    }
}

extension Date {
    /// The time that is stored if the user has stopped the retries of a download. It is the latest time that a catalogue can store.
    package static let never = Date(timeIntervalSince1970: 1e12)
    fileprivate static let lastRetry = Date(timeIntervalSince1970: 1e12 - 1)
}
