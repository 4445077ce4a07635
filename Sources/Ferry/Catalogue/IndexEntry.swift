package import FerryEngine

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// The fields that the queue keeps for every listed download. They are few, because there may be 100,000 downloads.
package struct IndexEntry: Sendable, Hashable {
    package var id: DownloadID
    package var key: QueueKey
    package var kind: StateKind
    /// The networks that the download may use.
    package var network: NetworkRule
    /// The host of the download's own proxy or, without a proxy, of its first source; empty if there is no host. All entries of a
    /// host share one string.
    package var host: String
    /// The session that added the download. All entries of a session share one string.
    package var session: String
    /// The time at which the download may run: the later of its next attempt and its earliest start. For a failed download, only
    /// the next attempt counts; for a paused download, only the earliest start. `nil` if the download may run at once, or does not
    /// start automatically.
    package var wakeAt: Date?
    /// Whether a completed download may still have a journal, or the move of its file has not been finished.
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
        if kind.isFinal { return retryAt == .never ? nil : retryAt }
        if kind == .paused { return notBefore }
        guard let notBefore, let retryAt else { return notBefore ?? retryAt }
        return max(notBefore, retryAt)
    }
}

/// The end of a download.
package struct Ending: Sendable, Hashable {
    package enum Outcome: Sendable, Hashable {
        /// The result and the published file, which is `nil` for a stream.
        case completed(FinishedDownload, PublishedFile?)
        case failed(DownloadError)
        case cancelled
    }
    package var outcome: Outcome
    package var date: Date
    /// Whether a numbered event is kept until the app has acknowledged it.
    package var isNumbered: Bool
    /// Whether the journal of the completed download still exists; the part file remains recorded until the journal is removed.
    package var leavesJournal = false

    package init(_ outcome: Outcome, at date: Date, isNumbered: Bool = true) {
        self.outcome = outcome
        self.date = date.asStored
        self.isNumbered = isNumbered
    }

    /// The state after this end.
    package var state: DownloadState {
        switch outcome {
        case .completed(let finished, _): .completed(finished.proof)
        case .failed(let error): .failed(error)
        case .cancelled: .cancelled
        }
    }

    /// The event that reports this end.
    package var event: DownloadEvent.Kind {
        switch outcome {
        case .completed(let finished, _): .completed(finished)
        case .failed(let error): .failed(error)
        case .cancelled: .cancelled
        }
    }
}
