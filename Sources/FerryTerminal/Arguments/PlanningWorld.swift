package import Ferry

/// What a plan must know of the machine; a value, so that plans can be tested without one.
package struct PlanningWorld: Sendable {
    /// What a path is.
    package enum PathKind: Sendable, Hashable {
        case missing
        case file
        case directory
    }

    package var environment: [String: String]
    /// The most files and sockets that the process may hold open; `nil` for no limit.
    package var openFileLimit: Int?
    /// The bytes of a file, or of standard input for `-`, as text; the error says why not, in the system's words.
    package var readText: @Sendable (String) throws(UsageError) -> String
    package var kind: @Sendable (String) -> PathKind
    /// Makes a directory where it is missing; an error when nothing can be written there.
    package var prepareDirectory: @Sendable (String) throws(UsageError) -> Void
    /// Asks the user for a password, without echo.
    package var password: @Sendable (_ user: String) throws(UsageError) -> String
    /// The URLs in the journal of a part file, or in all journals of a directory; what cannot be read has none.
    package var journalURLs: @Sendable (String) -> [DownloadURL]
    /// Asks the user a question that is answered with yes or no; an error where there is nobody to ask.
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
