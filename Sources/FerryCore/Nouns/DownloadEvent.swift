public import struct Foundation.Date

/// Something that happened to a download, with its reason.
///
/// Events that end a download are numbered and stored until ``acknowledge()`` is called. Unacknowledged events are
/// delivered again, under the same number, the next time the manager is opened.
public struct DownloadEvent: Sendable, Hashable {
    /// The download that the event belongs to.
    public var id: DownloadID
    /// The time of the event.
    public var date: Date
    /// The type of an event, with its payload.
    public var kind: Kind { didSet { if kind != oldValue { translation = Translation(reason: nil) } } }
    /// A stable, ascending number for stored events, which are those that end a download; `nil` for all others.
    public var number: Int64?
    private let receipt: Receipt?
    private var translation: Translation

    package init(id: DownloadID, date: Date, kind: Kind, number: Int64? = nil) {
        self.init(id: id, date: date, kind: kind, number: number, session: nil, onAcknowledge: nil)
    }

    package init(
        id: DownloadID, date: Date, kind: Kind, number: Int64?, session: String? = nil, reason: Reason? = nil,
        onAcknowledge: (@Sendable (Int64) -> Void)?
    ) {
        self.id = id
        self.date = date
        self.kind = kind
        self.number = number
        receipt = onAcknowledge.map { Receipt(session: session, give: $0) }
        translation = Translation(reason: reason?.description == kind.words ? reason : nil)
    }

    package init(id: DownloadID, date: Date, _ told: LocalizedEvent) {
        self.init(id: id, date: date, kind: told.kind, number: nil, reason: told.reason, onAcknowledge: nil)
    }

    /// The translatable form of the reason in ``kind``; not compared and not coded.
    package var reason: Reason? { translation.reason }

    /// Returns the reason, message or text of ``kind`` in `language`, or in English if it has no translation. For a
    /// failure, returns the error's message; `nil` for kinds without a reason.
    public func reason(in language: Language) -> String? {
        if case .failed(let error) = kind { return error.message(in: language) }
        return reason?.text(in: language) ?? kind.words
    }

    /// The session that owns the download, if the delivering manager knows it; not compared and not coded.
    package var session: String? { receipt?.session }

    /// Marks the event as handled, so that it is not delivered again. No effect on events without a number.
    public func acknowledge() {
        if let number { receipt?.give(number) }
    }

    /// The kinds of events.
    public enum Kind: Sendable, Hashable {
        /// The download was added to the list.
        case added(url: String)
        /// The first usable response arrived: the chosen name, the size in bytes, whether the download is resumable.
        case started(name: String, totalBytes: ByteCount?)
        /// The download resumes after `offset` bytes of partial content.
        case resumed(offset: ByteCount, totalBytes: ByteCount?, reason: String)
        /// A transient failure; the next attempt starts after `delay`.
        case retrying(attempt: Int, delay: Duration, reason: String)
        /// The partial content cannot be used and the download restarts at zero. The old bytes are kept as a backup.
        case restarted(reason: String)
        /// Blocked by something other than the queue or a timer: network, disk space, an expired link or credentials.
        case waiting(WaitReason, message: String)
        /// A decision worth logging: a connection dropped, a mirror rejected, a connection count chosen.
        case note(String)
        /// The download was paused; partial content is kept.
        case paused
        /// The file has its final name. If it was moved before the event was delivered, the payload has the new path.
        case completed(FinishedDownload)
        /// The download cannot continue without intervention; partial content is kept.
        case failed(DownloadError)
        /// The download was cancelled, and its partial content removed unless it was kept for resume data.
        case cancelled

        /// Whether the event ends the download.
        package var isEnd: Bool {
            switch self {
            case .completed, .failed, .cancelled: true
            case .added, .started, .resumed, .retrying, .restarted, .waiting, .note, .paused: false
            }
        }
    }
}

extension DownloadEvent.Kind {
    /// The English reason, message or text; `nil` for kinds without one.
    fileprivate var words: String? {
        switch self {
        case .resumed(_, _, let words), .retrying(_, _, let words), .restarted(let words): words
        case .waiting(_, let words), .note(let words): words
        case .added, .started, .paused, .completed, .failed, .cancelled: nil
        }
    }
}

/// A translation that does not take part in comparison: all values are equal.
private struct Translation: Sendable, Hashable {
    let reason: Reason?

    static func == (left: Translation, right: Translation) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}

/// The callback that records an acknowledgement. It does not take part in comparison: all values are equal.
private struct Receipt: Sendable, Hashable {
    let session: String?
    let give: @Sendable (Int64) -> Void

    static func == (left: Receipt, right: Receipt) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}
