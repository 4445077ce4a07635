package import FerryEngine

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

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

/// The end of a download.
package struct Ending: Sendable, Hashable {
    package enum Outcome: Sendable, Hashable {
        /// With the published file; `nil` if there is none (a stream).
        case completed(FinishedDownload, PublishedFile?)
        case failed(DownloadError)
        case cancelled
    }
    package var outcome: Outcome
    package var date: Date
    /// Keep a numbered event until the app has acknowledged it.
    package var isNumbered: Bool
    /// The completed download's journal still exists; the part file stays recorded until it is removed.
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

    /// The event of this end.
    package var event: DownloadEvent.Kind {
        switch outcome {
        case .completed(let finished, _): .completed(finished)
        case .failed(let error): .failed(error)
        case .cancelled: .cancelled
        }
    }
}
