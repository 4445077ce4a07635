public import struct Foundation.Date

/// Something that happened to a download, with its reason.
///
/// Events that end a download are numbered and kept until they were handled: ``acknowledge()`` says so. One that was
/// not is told again when the manager is opened the next time; the number is the same then.
public struct DownloadEvent: Sendable, Hashable {
    /// The download that it is about.
    public var id: DownloadID
    /// When it happened.
    public var date: Date
    /// What happened.
    public var kind: Kind
    /// Stable and ascending, for events that end a download and are kept; `nil` for all others.
    public var number: Int64?
    private let receipt: Receipt?
    private let translation: Translation

    public init(id: DownloadID, date: Date, kind: Kind, number: Int64? = nil) {
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
        translation = Translation(reason: reason)
    }

    package init(id: DownloadID, date: Date, _ told: LocalizedEvent) {
        self.init(id: id, date: date, kind: told.kind, number: nil, reason: told.reason, onAcknowledge: nil)
    }

    /// What the kind says in English, in every language where it is known so; no part of what is compared or coded.
    package var reason: Reason? { translation.reason }

    /// Why it happened: what ``kind`` says as its reason, message or text, in that language; in English where it has no
    /// translation. Of a failure the error's message; `nil` for kinds that say nothing more.
    public func reason(in language: Language) -> String? {
        let words: String
        switch kind {
        case .resumed(_, _, let said), .retrying(_, _, let said), .restarted(let said): words = said
        case .waiting(_, let said), .note(let said): words = said
        case .failed(let error): return error.message(in: language)
        case .added, .started, .paused, .completed, .cancelled: return nil
        }
        // A translation counts only while the English text is still the one that it gives.
        guard let known = translation.reason, known.description == words else { return words }
        return known.text(in: language)
    }

    /// Who asked for the download, as far as the manager that told it knows; no part of what is compared or coded.
    package var session: String? { receipt?.session }

    /// The app has handled it: it is not told again. Nothing happens for events without a number.
    public func acknowledge() {
        if let number { receipt?.give(number) }
    }

    /// What can happen to a download.
    public enum Kind: Sendable, Hashable {
        /// It is on the list.
        case added(url: String)
        /// The server's first usable answer: the name that was taken, the size, whether it can be resumed.
        case started(name: String, totalBytes: ByteCount?)
        /// It goes on from `offset` bytes that are held.
        case resumed(offset: ByteCount, totalBytes: ByteCount?, reason: String)
        /// A failure that passes; the next attempt comes after `delay`.
        case retrying(attempt: Int, delay: Duration, reason: String)
        /// What is held cannot be used; it begins again at zero. The old bytes are kept aside.
        case restarted(reason: String)
        /// It waits for something other than time and its turn: for a network when it would be its turn, for space, a link or
        /// credentials.
        case waiting(WaitReason, message: String)
        /// A decision worth knowing: a connection dropped, a mirror refused, a count of connections found.
        case note(String)
        /// It was paused; what is there is safe.
        case paused
        /// The file has its name. One that was moved before the event is handed out is named where it is then.
        case completed(FinishedDownload)
        /// It cannot go on by itself; what is there is kept.
        case failed(DownloadError)
        /// It was cancelled; what was there is gone.
        case cancelled

        /// Whether it ends the download.
        public var isEnd: Bool {
            switch self {
            case .completed, .failed, .cancelled: true
            case .added, .started, .resumed, .retrying, .restarted, .waiting, .note, .paused: false
            }
        }
    }
}

/// All are equal, so that events compare by what they say.
private struct Translation: Sendable, Hashable {
    let reason: Reason?

    static func == (left: Translation, right: Translation) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}

/// Says who is told that an event was handled; all are equal, so that events compare by what they say.
private struct Receipt: Sendable, Hashable {
    let session: String?
    let give: @Sendable (Int64) -> Void

    static func == (left: Receipt, right: Receipt) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}
