package import FerryCore

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// A download's list attributes, stored in its journal so that the list can be rebuilt from journals.
package struct JournalTags: Sendable, Hashable {
    package var session: String?
    package var position: Int64?
    package var priority: Int?
    package var label: String?
    /// Empty by default.
    package var userInfo: [String: String]
    /// Whether the user paused the download. Default false.
    package var isPaused = false
    /// The rate limit in bytes per second. Default `nil`: no limit.
    package var rateLimit: ByteCount?
    /// The maximum number of connections. Default `nil`: a request's default.
    package var maxConnections: Int?
    /// The network rule. Default: the manager's setting.
    package var network = NetworkRule()
    /// Further rules of the request. Default `nil`: a request's defaults.
    package var rules: JournalRules?
    /// The file under the final name that the finished one replaces. Default none.
    package var replaces: PublishedFile?

    package init(
        session: String? = nil, position: Int64? = nil, priority: Int? = nil, label: String? = nil,
        userInfo: [String: String] = [:]
    ) {
        self.session = session
        self.position = position
        self.priority = priority
        self.label = label
        self.userInfo = userInfo
    }
}

extension JournalRecord {
    /// Replaces the record's tags; does nothing for `nil`.
    mutating func take(_ tags: JournalTags?) {
        guard let tags else { return }
        session = tags.session
        position = tags.position.map { Int(clamping: $0) }
        priority = tags.priority
        label = tags.label
        userInfo = tags.userInfo.isEmpty ? nil : tags.userInfo
        isPaused = tags.isPaused ? true : nil
        rateLimit = tags.rateLimit
        maxConnections = tags.maxConnections
        network = tags.network == NetworkRule() ? nil : tags.network
        rules = tags.rules
        replaces = tags.replaces.map(Replaced.init)
    }
}

extension JournalRecord {
    /// Appends an event as text and drops the oldest events beyond the limit.
    mutating func append(_ event: DownloadEvent.Kind, at date: Date) {
        let text: String
        switch event {
        case .resumed(let offset, _, let reason): text = "resumed at \(ByteText.size(offset)): \(reason)"
        case .restarted(let reason): text = "restarted: \(reason)"
        case .retrying(let attempt, _, let reason): text = "attempt \(attempt) failed: \(reason)"
        case .waiting(_, let message): text = message
        case .note(let note): text = note
        case .failed(let error): text = "failed: \(error.message)"
        case .added, .started, .paused, .completed, .cancelled: return
        }
        events.append(Entry(time: date.timeIntervalSince1970, text: text))
        if events.count > Self.maxEvents { events.removeFirst(events.count - Self.maxEvents) }
    }
}
