import FerryCore
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// One connection to the database. Its calls block, so only the thread of a ``PostgresLink`` makes them.
final class PostgresConnection {
    /// A number that no other connection of the process has.
    let number = PostgresConnection.numbers.add(1, ordering: .relaxed).newValue
    private let library: LibPQ
    private let pointer: OpaquePointer

    private static let numbers = Atomic<Int>(0)

    /// The default limits of every connection. Limits in the URL take precedence.
    private static let settings = [
        ("connect_timeout", "10"), ("tcp_user_timeout", "20000"), ("keepalives_idle", "10"),
        ("keepalives_interval", "5"), ("keepalives_count", "3"), ("client_encoding", "UTF8"),
    ]
    /// The maximum size of a value to read, in bytes.
    private static let mostValueBytes = 1 << 20

    /// Connects to the database.
    ///
    /// - Parameter name: Shown in `pg_stat_activity`.
    init(to address: DatabaseAddress, as name: String) throws(DatabaseError) {
        library = try LibPQ.shared.get()
        // libpq's own error would repeat the whole URL, including its password.
        guard let options = library.parse(address.text, nil) else {
            throw DatabaseError("the URL of the database cannot be parsed: \(address.description)")
        }
        library.freeOptions(options)
        let parameters = Self.settings + [("application_name", name), ("dbname", address.text)]
        let pointer = CStrings.with(parameters.map(\.0)) { [library] keys in
            CStrings.with(parameters.map(\.1)) { values in library.connect(keys, values, 1) }
        }
        guard let pointer else { throw DatabaseError("no memory for a connection to the database") }
        self.pointer = pointer
        _ = library.setNoticeReceiver(pointer, { _, _ in }, nil)
        guard !isBroken else {
            let isDenied = library.needsPassword(pointer) == 1 || library.usedPassword(pointer) == 1
            throw DatabaseError(lost.reason, isTransient: true, isDenied: isDenied)
        }
        // Set by a statement, because connection poolers refuse these settings as connection options. JIT is off because compiling
        // one of Ferry's statements would take longer than running it.
        _ = try rows(
            """
            SELECT set_config('statement_timeout', '60s', false), set_config('lock_timeout', '20s', false),
                set_config('idle_in_transaction_session_timeout', '60s', false), set_config('jit', 'off', false)
            """)
    }

    deinit { library.finish(pointer) }

    var isBroken: Bool { library.status(pointer) != LibPQ.connected }
    var socket: Int32 { library.socket(pointer) }

    private var lost: DatabaseError {
        DatabaseError("no connection to the database: \(Self.line(library.errorMessage(pointer)))", isTransient: true)
    }

    /// Returns the first line of an error message.
    private static func line(_ text: UnsafePointer<CChar>?) -> String {
        let text = text.map { String(cString: $0) } ?? ""
        return text.split(at: "\n").first.map { String($0.prefix(500)) } ?? "no reason is known"
    }

    /// Runs one statement, and returns its rows.
    func rows(_ statement: String, _ parameters: [String?] = []) throws(DatabaseError) -> ResultRows {
        let result = CStrings.with(parameters) { [library, pointer] values in
            library.execute(pointer, statement, Int32(parameters.count), nil, values, nil, nil, 0)
        }
        defer { library.clear(result) }
        let status = library.resultStatus(result)
        guard status == LibPQ.tuplesOK || status == LibPQ.commandOK else { throw failure(of: result) }
        let (count, columns) = (library.rowCount(result), library.columnCount(result))
        var rows: [ResultRows.Row] = []
        rows.reserveCapacity(Int(count))
        for row in 0..<count {
            var values: [String?] = []
            for column in 0..<columns {
                guard library.isNull(result, row, column) == 0, let start = library.value(result, row, column) else {
                    values.append(nil)
                    continue
                }
                let length = Int(library.length(result, row, column))
                guard 0...Self.mostValueBytes ~= length else { throw .unusable }
                values.append(String(decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self))
            }
            rows.append(ResultRows.Row(values: values))
        }
        return ResultRows(rows: rows)
    }

    /// Sends lines in the text format of COPY. The database stores either all of them or none.
    func copy(_ statement: String, _ lines: [UInt8]) throws(DatabaseError) {
        let begun = library.execute(pointer, statement, 0, nil, nil, nil, nil, 0)
        defer { library.clear(begun) }
        guard library.resultStatus(begun) == LibPQ.copyIn else { throw failure(of: begun) }
        let isSent = lines.withUnsafeBufferPointer { bytes in
            library.putCopyData(pointer, bytes.baseAddress, Int32(bytes.count)) == 1
        }
        guard isSent, library.putCopyEnd(pointer, nil) == 1 else { throw lost }
        var problem: DatabaseError?
        while let result = library.nextResult(pointer) {
            if library.resultStatus(result) != LibPQ.commandOK { problem = problem ?? failure(of: result) }
            library.clear(result)
        }
        if let problem { throw problem }
    }

    /// Reads unsolicited messages from the server. Returns whether there was a notification.
    func takeNotifications() -> Bool {
        guard library.consumeInput(pointer) == 1 else { return false }
        var hasSome = false
        while let notification = library.nextNotification(pointer) {
            hasSome = true
            library.free(notification)
        }
        return hasSome
    }

    private func failure(of result: OpaquePointer?) -> DatabaseError {
        if isBroken { return lost }
        let state = library.resultField(result, LibPQ.stateField).map { String(cString: $0) } ?? ""
        let field = library.resultField(result, LibPQ.messageField) ?? library.errorMessage(pointer)
        return DatabaseError(state: state, message: Self.line(field))
    }
}

/// Converts strings to C strings.
private enum CStrings {
    /// Calls `body` with an array of C strings that ends with a null pointer. A string is truncated at its first NUL.
    static func with<Value>(_ texts: [String?], _ body: (LibPQ.Texts?) -> Value) -> Value {
        let copies = texts.map { $0.flatMap { strdup($0) } }
        defer { for copy in copies { free(copy) } }
        return (copies.map { $0.map { UnsafePointer($0) } } + [nil]).withUnsafeBufferPointer { body($0.baseAddress) }
    }
}
