/// What `POST /sessions` registers; over the Unix socket.
package struct SessionRegistration: Sendable, Hashable {
    /// Letters, digits, `.`, `-` and `_`, at most 128, not beginning with a dot; not `all`.
    package var identifier: String
    /// Where its downloads go by default; `nil` keeps what is known, at first the user's Downloads.
    package var directory: String?
    /// The program and its arguments, run without a shell when events wait and nobody is there; an empty one for none,
    /// `nil` keeps what is known.
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

/// A session as it is known.
package struct SessionBody: Sendable, Hashable {
    package var identifier: String
    package var directory: String
    /// The id of the newest event of the stream: follow from here what comes after this answer.
    package var lastEvent: String?
    /// Numbered events that were not acknowledged.
    package var pendingEvents: Int
    /// It is launched when events wait; the command itself is not shown.
    package var hasLaunchCommand: Bool
    /// Event streams that are open on it.
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

/// All sessions that are known, `default` first, then by identifier.
package struct SessionItems: Codable, Sendable, Hashable {
    package var items: [SessionBody]
    package init(_ items: [SessionBody]) { self.items = items }
}
