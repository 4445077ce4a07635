/// The body of `POST /sessions`; Unix socket only.
package struct SessionRegistration: Sendable, Hashable {
    /// Letters, digits, `.`, `-` and `_`, at most 128, not beginning with a dot; not `all`.
    package var identifier: String
    /// The default destination directory; `nil` keeps the present one, initially the user's Downloads.
    package var directory: String?
    /// Program and arguments, run without a shell when events are pending and no client is connected; empty for none,
    /// `nil` keeps the present one.
    package var launchCommand: [String]?

    package init(identifier: String, directory: String? = nil, launchCommand: [String]? = nil) {
        self.identifier = identifier
        self.directory = directory
        self.launchCommand = launchCommand
    }
}

extension SessionRegistration: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable { case identifier, directory, launchCommand }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.members(CodingKeys.self)
        identifier = try members.decode(String.self, forKey: .identifier)
        directory = try members.decodeIfPresent(String.self, forKey: .directory)
        launchCommand = try members.decodeIfPresent([String].self, forKey: .launchCommand)
    }
}

/// A registered session.
package struct SessionBody: Sendable, Hashable {
    package var identifier: String
    package var directory: String
    /// The id of the newest event in the stream: events after it are later than this response.
    package var lastEvent: String?
    /// The number of unacknowledged events.
    package var pendingEvents: Int
    /// Whether the session has a launch command, which itself is not included.
    package var hasLaunchCommand: Bool
    /// The number of open event streams of the session.
    package var clients: Int

    package init(
        identifier: String, directory: String, lastEvent: String? = nil, pendingEvents: Int = 0,
        hasLaunchCommand: Bool = false, clients: Int = 0
    ) {
        self.identifier = identifier
        self.directory = directory
        self.lastEvent = lastEvent
        self.pendingEvents = pendingEvents
        self.hasLaunchCommand = hasLaunchCommand
        self.clients = clients
    }
}

extension SessionBody: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case identifier, directory, lastEvent, pendingEvents, hasLaunchCommand, clients
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(identifier, forKey: .identifier)
        try members.encode(directory, forKey: .directory)
        try members.encode(lastEvent, forKey: .lastEvent)
        try members.encode(pendingEvents, forKey: .pendingEvents)
        try members.encode(hasLaunchCommand, forKey: .hasLaunchCommand)
        try members.encode(clients, forKey: .clients)
    }
}

/// All sessions, `default` first, then by identifier.
package struct SessionItems: Codable, Sendable, Hashable {
    package var items: [SessionBody]
    package init(_ items: [SessionBody]) { self.items = items }
}
