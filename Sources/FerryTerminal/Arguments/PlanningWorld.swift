import Ferry
package import FerryCore

/// The system functions that planning needs. A value, so that tests can replace them.
package struct PlanningWorld: Sendable {
    /// The type of a path.
    package enum PathKind: Sendable, Hashable {
        case missing
        /// A regular file, block device or socket.
        case file
        /// A character device or FIFO.
        case stream
        case directory
    }

    package var environment: [String: String]
    /// The directory of files for which the user gives none.
    package var directory = "."
    /// Resolves a directory that the user gives.
    package var absolute: @Sendable (String) -> String = { $0 }
    /// The limit of open files and sockets of this process; `nil` for no limit.
    package var openFileLimit: Int?
    /// Reads a file, or standard input for `-`, as text. Throws with the system's error message.
    package var readText: @Sendable (String) throws(UsageError) -> String
    /// Opens a list, or standard input for `-`. Throws with the system's error message.
    package var openList: @Sendable (String) throws(UsageError) -> ListFile
    package var kind: @Sendable (String) -> PathKind
    /// Opens a path of the kind `stream` for writing. Throws with the system's error message.
    package var openStream: @Sendable (String) throws(UsageError) -> Int32 = LocalFiles.openStream(_:)
    /// Creates a directory if it is missing. Throws if it is not writable.
    package var prepareDirectory: @Sendable (String) throws(UsageError) -> Void
    /// Prompts for a password without echo.
    package var password: @Sendable (_ user: String) throws(UsageError) -> String
    /// Returns the servers in the journal of a part file, or in all journals of a directory. Unreadable journals have
    /// none.
    package var journalOrigins: @Sendable (String) -> Set<Origin>
    /// Prompts for a yes-or-no answer. Throws without a terminal.
    package var confirm: @Sendable (_ question: String) throws(UsageError) -> Bool

    package init(
        environment: [String: String], openFileLimit: Int? = nil,
        readText: @escaping @Sendable (String) throws(UsageError) -> String,
        kind: @escaping @Sendable (String) -> PathKind,
        prepareDirectory: @escaping @Sendable (String) throws(UsageError) -> Void,
        password: @escaping @Sendable (String) throws(UsageError) -> String,
        openList: (@Sendable (String) throws(UsageError) -> ListFile)? = nil,
        journalOrigins: @escaping @Sendable (String) -> Set<Origin> = { _ in [] },
        confirm: @escaping @Sendable (String) throws(UsageError) -> Bool = { _ in false }
    ) {
        self.environment = environment
        self.openFileLimit = openFileLimit
        self.readText = readText
        self.kind = kind
        self.prepareDirectory = prepareDirectory
        self.password = password
        if let openList {
            self.openList = openList
        } else {
            self.openList = { path throws(UsageError) in
                let text = try readText(path)
                return ListFile(name: path == "-" ? "standard input" : path, text: text)
            }
        }
        self.journalOrigins = journalOrigins
        self.confirm = confirm
    }
}
