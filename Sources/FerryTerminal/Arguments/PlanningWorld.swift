package import Ferry

/// The system functions that planning needs. A value, so that tests can replace them.
package struct PlanningWorld: Sendable {
    /// The type of a path.
    package enum PathKind: Sendable, Hashable {
        case missing
        case file
        case directory
    }

    package var environment: [String: String]
    /// The limit of open files and sockets of this process; `nil` for no limit.
    package var openFileLimit: Int?
    /// Reads a file, or standard input for `-`, as text. Throws with the system's error message.
    package var readText: @Sendable (String) throws(UsageError) -> String
    package var kind: @Sendable (String) -> PathKind
    /// Creates a directory if it is missing. Throws if it is not writable.
    package var prepareDirectory: @Sendable (String) throws(UsageError) -> Void
    /// Prompts for a password without echo.
    package var password: @Sendable (_ user: String) throws(UsageError) -> String
    /// Returns the URLs in the journal of a part file, or in all journals of a directory. Unreadable journals have
    /// none.
    package var journalURLs: @Sendable (String) -> [DownloadURL]
    /// Asks a yes-or-no question. Throws without a terminal.
    package var confirm: @Sendable (_ question: String) throws(UsageError) -> Bool

    package init(
        environment: [String: String], openFileLimit: Int? = nil,
        readText: @escaping @Sendable (String) throws(UsageError) -> String,
        kind: @escaping @Sendable (String) -> PathKind,
        prepareDirectory: @escaping @Sendable (String) throws(UsageError) -> Void,
        password: @escaping @Sendable (String) throws(UsageError) -> String,
        journalURLs: @escaping @Sendable (String) -> [DownloadURL] = { _ in [] },
        confirm: @escaping @Sendable (String) throws(UsageError) -> Bool = { _ in false }
    ) {
        self.environment = environment
        self.openFileLimit = openFileLimit
        self.readText = readText
        self.kind = kind
        self.prepareDirectory = prepareDirectory
        self.password = password
        self.journalURLs = journalURLs
        self.confirm = confirm
    }
}
