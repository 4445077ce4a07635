/// Coded as `{"id", "date", "number"?, "kind", …}`: the kind as ``DownloadEvent/Kind``, and the translatable form of its reason
/// in `phrase`, if there is one.
///
/// A decoded event cannot be acknowledged: the manager that issued it is not coded.
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

/// Coded as `{"kind": …}` with the payload under the names below; `delay` in seconds.
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
