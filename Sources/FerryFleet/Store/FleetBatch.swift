import FerryCore
package import FerryTerminal

/// A list of the fleet: its rows, and the place of their files.
package struct FleetBatch: Sendable, Hashable {
    let id: Int
    let name: String
    /// An absolute path on each worker, or the URL of a prefix of objects.
    let directory: String
    /// The prefix of objects; `nil` for a directory.
    let prefix: DownloadURL?
    let state: State
    /// The number of rows.
    let total: Int64

    enum State: String, Sendable, Hashable {
        /// Its list is being read.
        case adding
        case open
        /// No lease is given, and no file of a held lease is started.
        case paused
        /// No lease is given; held leases continue.
        case draining
        case removing
        /// All its rows have ended. Only `ferry.progress` reports this state.
        case done
    }

    /// Reads and checks the columns id, name, state, directory and total, starting at `column`.
    init(_ row: ResultRows.Row, from column: Int) throws(DatabaseError) {
        id = try row.number(column, in: 1...Int(Int32.max))
        name = try row.text(column + 1)
        directory = try row.text(column + 3)
        total = try row.number(column + 4)
        do throws(UsageError) { prefix = try UploadTarget.prefix(directory) } catch { throw .unusable }
        guard let state = State(rawValue: try row.text(column + 2)), Self.isName(name),
            prefix != nil || Self.isPlace(directory)
        else { throw .unusable }
        self.state = state
    }

    private static let mostNameBytes = 64

    /// Whether a text is a valid name: lower-case letters, digits, `.`, `_` and `-`. The name is used for a directory, even on file
    /// systems that ignore case.
    static func isName(_ text: String) -> Bool {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case 0x61...0x7A, 0x30...0x39, UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
            default: false
            }
        }
        return isPlain && 1...mostNameBytes ~= text.utf8.count && SafeName.sanitize(text) == text
    }

    /// Whether a text is an absolute path without `.` and `..`.
    static func isPlace(_ text: String) -> Bool {
        Paths.isAbsolute(text) && text.utf8.count <= 2048 && !text.utf8.contains(0)
            && text.split(at: "/").allSatisfy { $0 != "." && $0 != ".." }
    }

    package static func name(_ text: String) throws(UsageError) -> String {
        guard isName(text) else {
            throw UsageError("--batch \(TextError.quote(text)): write a-z, digits, - . _, at most 64")
        }
        return text
    }
}

/// The state of a batch: a line of `ferry fleet status --json`.
package struct BatchStatus: Sendable, Hashable, Codable {
    var name: String
    var state: String
    var directory: String
    /// Rows of batches of higher priority are leased first.
    var priority: Int
    /// The numbers of rows: total = completed + failed + leased + waiting.
    var total: Int64
    var completed: Int64
    var failed: Int64
    /// Rows that a worker holds and that have not ended.
    var leased: Int64
    var waiting: Int64
    /// The number of rows that ended per second in the last two minutes; `nil` if fewer than two ended.
    var rowsPerSecond: Double?
    /// The time for the remaining rows at that rate, and at least the time since the last one ended.
    var secondsLeft: Double?
    /// The most frequent reasons for failed files, at most 20.
    var failures: [Failures]

    /// The number of files that failed for a reason.
    struct Failures: Sendable, Hashable, Codable {
        /// A word of ``FailureReason``.
        var reason: String
        var httpStatus: Int?
        var files: Int64
    }
}

/// A worker: a line of `ferry fleet workers --json`.
package struct WorkerStatus: Sendable, Hashable, Codable {
    var name: String
    /// The time since its last heartbeat, by the database's clock.
    var secondsSilent: Double
    /// Whether its leases are still valid; if not, other workers take them.
    var holdsLeases: Bool
    var leases: Int64
}
