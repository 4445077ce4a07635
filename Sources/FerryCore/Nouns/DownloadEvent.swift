#if canImport(FoundationEssentials)
    public import struct FoundationEssentials.Date
#else
    public import struct Foundation.Date
#endif

/// Something that happened to a download, with its reason.
///
/// Events that end a download are numbered and stored until ``acknowledge()`` is called. The next time the manager is
/// opened, unacknowledged events are delivered again with the same number.
public struct DownloadEvent: Sendable, Hashable {
    /// The download that the event belongs to.
    public var id: DownloadID
    /// The time of the event.
    public var date: Date
    /// The type of an event, with its payload.
    public var kind: Kind { didSet { if kind != oldValue { translation = Translation(reason: nil) } } }
    /// A stable, ascending number for stored events, which are the events that end a download; `nil` for all others.
    public var number: Int64?
    private let receipt: Receipt?
    private var translation: Translation

    /// Creates an event, for previews and tests; acknowledging it has no effect.
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
        translation = Translation(reason: reason?.description == kind.words ? reason : nil)
    }

    package init(id: DownloadID, date: Date, _ told: LocalizedEvent) {
        self.init(id: id, date: date, kind: told.kind, number: nil, reason: told.reason, onAcknowledge: nil)
    }

    /// The translatable form of the reason in ``kind``; not compared and not encoded.
    package var reason: Reason? { translation.reason }

    /// Returns the reason, message or text of ``kind`` in `language`, or in English if it has no translation. For a
    /// failure, returns the error's message; `nil` for kinds without a reason.
    public func reason(in language: Language) -> String? {
        if case .failed(let error) = kind { return error.message(in: language) }
        return reason?.text(in: language) ?? kind.words
    }

    /// The session that owns the download, if the delivering manager knows it; not compared and not encoded.
    package var session: String? { receipt?.session }

    /// Marks the event as handled, so that it is not delivered again. No effect on events without a number.
    public func acknowledge() {
        if let number { receipt?.give(number) }
    }

    /// The kinds of events.
    public enum Kind: Sendable, Hashable {
        /// The download was added to the list.
        case added(url: String)
        /// The first usable response arrived. The payload is the chosen name and the size in bytes.
        case started(name: String, totalBytes: ByteCount?)
        /// The download resumes after `offset` bytes of partial content.
        case resumed(offset: ByteCount, totalBytes: ByteCount?, reason: String)
        /// A transient failure; the next attempt starts after `delay`.
        case retrying(attempt: Int, delay: Duration, reason: String)
        /// The partial content cannot be used and the download restarts at zero. The old bytes are kept as a backup.
        case restarted(reason: String)
        /// The download waits for the network, for disk space, for a new link or for credentials.
        case waiting(WaitReason, message: String)
        /// A decision worth logging: a connection was dropped, a mirror rejected, a number of connections chosen.
        case note(String)
        /// The download was paused; partial content is kept.
        case paused
        /// The file has its final name. If the file was moved before the event was delivered, the payload has the new
        /// path.
        case completed(FinishedDownload)
        /// The download cannot continue without intervention; partial content is kept.
        case failed(DownloadError)
        /// The download was cancelled, and its partial content removed unless resume data was requested.
        case cancelled

        /// Whether the event ends its download.
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

/// Encoded as `{"id", "date", "number"?, "kind", …}`: the kind as in ``DownloadEvent/Kind``, and the translatable form of its
/// reason in `phrase`, if it has one.
///
/// A decoded event cannot be acknowledged: the manager that sent it is not part of the encoded form.
extension DownloadEvent: Codable {
    private enum CodingKeys: String, CodingKey { case id, date, number }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let told = try LocalizedEvent(from: decoder)
        self.init(
            id: try container.decode(DownloadID.self, forKey: .id), date: try container.decodeTime(forKey: .date),
            kind: told.kind, number: try container.decodeIfPresent(Int64.self, forKey: .number), reason: told.reason,
            onAcknowledge: nil)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(time: date, forKey: .date)
        try container.encodeIfPresent(number, forKey: .number)
        try LocalizedEvent(kind, reason: reason).encode(to: encoder)
    }
}

/// Encoded as `{"kind": …}` with the payload under the names below; `delay` in seconds.
///
/// `added` url; `started` name, totalBytes?; `resumed` offset, totalBytes?, reason; `retrying` attempt, delay, reason;
/// `restarted` reason; `waiting` the members of its reason, message; `note` text; `completed` file; `failed` error.
extension DownloadEvent.Kind: Codable {
    private enum CodingKeys: String, CodingKey {
        case kind, url, name, totalBytes, offset, reason, attempt, delay, message, text, file, error
    }
    private enum Word: String {
        case added, started, resumed, retrying, restarted, waiting, note, paused, completed, failed, cancelled
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String { try container.decode(String.self, forKey: key) }
        switch try container.decodeKind(Word.self, of: "event", forKey: .kind) {
        case .added: self = .added(url: try text(.url))
        case .started:
            self = .started(
                name: try text(.name), totalBytes: try container.decodeBytesIfPresent(forKey: .totalBytes))
        case .resumed:
            self = .resumed(
                offset: try container.decodeBytes(forKey: .offset),
                totalBytes: try container.decodeBytesIfPresent(forKey: .totalBytes), reason: try text(.reason))
        case .retrying:
            self = .retrying(
                attempt: try container.decode(Int.self, forKey: .attempt),
                delay: try container.decodeSeconds(forKey: .delay), reason: try text(.reason))
        case .restarted: self = .restarted(reason: try text(.reason))
        case .waiting:
            self = .waiting(try WaitReason(from: decoder), message: try text(.message))
        case .note: self = .note(try text(.text))
        case .paused: self = .paused
        case .completed: self = .completed(try container.decode(FinishedDownload.self, forKey: .file))
        case .failed: self = .failed(try container.decode(DownloadError.self, forKey: .error))
        case .cancelled: self = .cancelled
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(word.rawValue, forKey: .kind)
        switch self {
        case .added(let url): try container.encode(url, forKey: .url)
        case .started(let name, let totalBytes):
            try container.encode(name, forKey: .name)
            try container.encodeIfPresent(totalBytes, forKey: .totalBytes)
        case .resumed(let offset, let totalBytes, let reason):
            try container.encode(offset, forKey: .offset)
            try container.encodeIfPresent(totalBytes, forKey: .totalBytes)
            try container.encode(reason, forKey: .reason)
        case .retrying(let attempt, let delay, let reason):
            try container.encode(attempt, forKey: .attempt)
            try container.encode(seconds: delay, forKey: .delay)
            try container.encode(reason, forKey: .reason)
        case .restarted(let reason): try container.encode(reason, forKey: .reason)
        case .waiting(let reason, let message):
            try reason.encode(to: encoder)
            try container.encode(message, forKey: .message)
        case .note(let text): try container.encode(text, forKey: .text)
        case .completed(let file): try container.encode(file, forKey: .file)
        case .failed(let error): try container.encode(error, forKey: .error)
        case .paused, .cancelled: break
        }
    }

    private var word: Word {
        switch self {
        case .added: .added
        case .started: .started
        case .resumed: .resumed
        case .retrying: .retrying
        case .restarted: .restarted
        case .waiting: .waiting
        case .note: .note
        case .paused: .paused
        case .completed: .completed
        case .failed: .failed
        case .cancelled: .cancelled
        }
    }
}

/// An event as the engine reports it: `kind` contains the reason in English, `reason` contains it in every language.
package struct LocalizedEvent: Sendable, Hashable {
    package let kind: DownloadEvent.Kind
    /// The translatable reason, message or text of `kind`; `nil` if the kind has none.
    package let reason: Reason?

    package init(_ kind: DownloadEvent.Kind, reason: Reason? = nil) {
        self.kind = kind
        self.reason = reason
    }

    package static func resumed(offset: ByteCount, totalBytes: ByteCount?, reason: Reason) -> LocalizedEvent {
        LocalizedEvent(.resumed(offset: offset, totalBytes: totalBytes, reason: reason.description), reason: reason)
    }

    package static func retrying(attempt: Int, delay: Duration, reason: Reason) -> LocalizedEvent {
        LocalizedEvent(.retrying(attempt: attempt, delay: delay, reason: reason.description), reason: reason)
    }

    package static func restarted(reason: Reason) -> LocalizedEvent {
        LocalizedEvent(.restarted(reason: reason.description), reason: reason)
    }

    package static func waiting(_ wait: WaitReason, message: Reason) -> LocalizedEvent {
        LocalizedEvent(.waiting(wait, message: message.description), reason: message)
    }

    package static func note(_ text: Reason) -> LocalizedEvent { LocalizedEvent(.note(text.description), reason: text) }
}

/// Encoded as its kind, with the translatable form in `phrase` if it has one; a phrase of a newer version is ignored.
extension LocalizedEvent: Codable {
    private enum CodingKeys: String, CodingKey { case phrase }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let phrase = try? container.decode(ErrorPhrase.self, forKey: .phrase)
        self.init(try DownloadEvent.Kind(from: decoder), reason: phrase.map { Reason.phrase($0) })
    }

    package func encode(to encoder: any Encoder) throws {
        try kind.encode(to: encoder)
        guard case .phrase(let phrase)? = reason else { return }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(phrase, forKey: .phrase)
    }
}
