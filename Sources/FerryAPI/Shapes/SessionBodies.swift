/// The body of `POST /sessions`; Unix socket only.
package struct SessionRegistration: ClientBody, Encodable, Hashable {
    package enum CodingKeys: String, CodingKey, CaseIterable { case identifier, directory, launchCommand }

    /// At most 128 letters, digits, `.`, `-` and `_`. It must not begin with a dot, and must not be `all`.
    package var identifier: String
    /// The default destination directory; `nil` keeps the current one, which is initially the user's Downloads directory.
    package var directory: String?
    /// Program and arguments, run without a shell when events are pending and no client is connected. Empty for none; `nil`
    /// keeps the current command.
    package var launchCommand: [String]?

    package init(identifier: String, directory: String? = nil, launchCommand: [String]? = nil) {
        self.identifier = identifier
        self.directory = directory
        self.launchCommand = launchCommand
    }
}

/// A registered session.
package struct SessionBody: Codable, Sendable, Hashable {
    package var identifier: String
    package var directory: String
    /// The id of the newest event in the stream; events after it are later than this response.
    package var lastEvent: String?
    /// The number of unacknowledged events.
    package var pendingEvents: Int
    /// Whether the session has a launch command. The command itself is not included.
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

/// All sessions, `default` first, then by identifier.
package struct SessionItems: Codable, Sendable, Hashable {
    package var items: [SessionBody]
    package init(_ items: [SessionBody]) { self.items = items }
}
