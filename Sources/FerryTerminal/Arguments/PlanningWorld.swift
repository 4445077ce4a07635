import Ferry
package import FerryCore
package import HTTPTypes

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
    /// The directory of files for which the user specifies none.
    package var directory = "."
    /// Resolves a directory that the user specifies.
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
    /// Returns the servers in the journal of a part file, or in all journals of a directory. Unreadable journals are ignored.
    package var journalOrigins: @Sendable (String) -> Set<Origin>
    /// Whether a file was downloaded from a URL and has not changed since.
    package var hasDownloaded: @Sendable (_ path: String, _ url: String) -> Bool = { _, _ in false }
    /// The size of a file; `nil` if it is not known.
    package var fileSize: @Sendable (String) -> ByteCount? = { _ in nil }
    /// Whether two paths refer to the same existing file.
    package var isSameFile: @Sendable (String, String) -> Bool = { $0 == $1 }
    /// Whether a path leads to a directory or below it; neither needs to exist.
    package var isPlace: @Sendable (_ place: String, _ directory: String) -> Bool = {
        Paths.isPlace(Paths.normalized($0), in: Paths.normalized($1))
    }
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

/// Values of arguments. Errors name the option.
extension PlanningWorld {
    /// Reads a text file that an argument names.
    func read(_ path: String, what: Reason) throws(UsageError) -> String {
        try Self.naming(what, path) { () throws(UsageError) in try readText(path) }
    }

    /// Adds the purpose and the path of a file to an error.
    package static func naming<Value>(
        _ what: Reason, _ path: String, _ body: () throws(UsageError) -> Value
    ) throws(UsageError) -> Value {
        do {
            return try body()
        } catch {
            let place: Reason = path == "-" ? "from standard input" : .words(path)
            throw UsageError("cannot read \(what) \(place): \(error.reason)")
        }
    }

    /// Returns the header fields of `--header` texts, including those in the files that they name.
    package func headers(_ texts: [String], referer: String? = nil) throws(UsageError) -> HTTPFields {
        var fields = HTTPFields()
        for text in texts {
            if text.utf8.hasPrefix("@") {
                let path = String(text.dropFirst())
                let content = try read(path, what: "header file")
                for field in try Self.value(path, { () throws(TextError) in try HeaderLine.parseFile(content) }) {
                    fields.append(field)
                }
            } else {
                fields.append(try Self.value("--header") { () throws(TextError) in try HeaderLine.parse(text) })
            }
        }
        if let referer { fields.append(try Self.field("Referer", referer, option: "--referer")) }
        return try Self.permitted(fields)
    }

    /// Returns the fields without those of the connection, which Ferry sets itself, and which a command copied from a
    /// browser contains.
    ///
    /// - Throws: For a field that would change what is downloaded, such as Range.
    static func permitted(_ fields: HTTPFields) throws(UsageError) -> HTTPFields {
        var permitted = HTTPFields()
        for field in fields where !HeaderLine.isOfConnection(field.name) {
            if HeaderLine.isReserved(field.name) {
                throw UsageError("the header \(field.name.rawName) is set by ferry itself")
            }
            permitted.append(field)
        }
        return permitted
    }

    /// Prompts for a missing password on the terminal.
    package func credentials(of word: UserWord) throws(UsageError) -> Credentials {
        if let password = word.password { return Credentials(user: word.user, password: password) }
        return Credentials(user: word.user, password: try password(word.user))
    }

    static func field(_ name: String, _ text: String, option: String) throws(UsageError) -> HTTPField {
        try value(option) { () throws(TextError) in try HeaderLine.parse("\(name): \(text)") }
    }

    static func size(_ text: String, option: String) throws(UsageError) -> ByteCount {
        try value(option) { () throws(TextError) in try SizeText.parse(text) }
    }

    /// Returns the value that `read` parses; an error begins with the option.
    static func value<Value>(_ option: String, _ read: () throws(TextError) -> Value) throws(UsageError) -> Value {
        do {
            return try read()
        } catch {
            throw UsageError("\(option): \(error)")
        }
    }
}
