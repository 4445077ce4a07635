package import FerryCore

/// What a journal says of a download's place in its list, so that the list can be made again from journals.
package struct JournalTags: Sendable, Hashable {
    package var session: String?
    package var position: Int64?
    package var priority: Int?
    package var label: String?
    /// Empty for none.
    package var userInfo: [String: String]
    /// By its user. Default false.
    package var isPaused = false
    /// Bytes per second at most. Default `nil`: no limit.
    package var rateLimit: ByteCount?
    /// Default `nil`: as many as a request that says nothing.
    package var maxConnections: Int?
    /// Default: follows the manager's setting.
    package var network = NetworkRule()

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
    /// Takes the tags over, exactly; `nil` changes nothing.
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
    }
}
