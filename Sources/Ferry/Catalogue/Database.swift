import CSQLite

/// A connection to an SQLite database. Statements are compiled once and kept.
final class Database {
    enum Access { case readOnly, readWrite }

    /// The values of a statement's parameters, in their order; `nil` is NULL.
    typealias Arguments = [(any ColumnValue)?]

    /// `nil` once closed.
    private var connection: OpaquePointer?
    private var statements: [String: Statement] = [:]

    /// Opens a database, or creates it if it is missing and `access` is `readWrite`. Statements wait up to 5 s for the locks of
    /// other connections.
    init(path: String, _ access: Access = .readWrite) throws {
        connection = try Self.open(path, access)
        sqlite3_extended_result_codes(connection, 1)
        sqlite3_busy_timeout(connection, 5000)
        try execute("PRAGMA foreign_keys = ON")
    }

    private static func open(_ path: String, _ access: Access) throws -> OpaquePointer {
        let mode = access == .readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        var connection: OpaquePointer?
        // Only one thread at a time uses a connection, so it needs no mutex of its own.
        let code = sqlite3_open_v2(path, &connection, mode | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let connection else {
            // A connection that could not open its file contains the error, and must be closed too.
            defer { sqlite3_close(connection) }
            throw DatabaseError(code: code, connection)
        }
        return connection
    }

    /// Closes the connection, which must not be used afterwards.
    func close() throws {
        statements = [:]
        let code = sqlite3_close(connection)
        guard code == SQLITE_OK else { throw DatabaseError(code: code, connection) }
        connection = nil
    }

    deinit {
        statements = [:]
        sqlite3_close(connection)
    }

    // MARK: Statements

    /// Executes statements without arguments, separated by semicolons.
    func execute(_ script: String) throws {
        let code = sqlite3_exec(connection, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw DatabaseError(code: code, connection) }
    }

    /// Executes one statement.
    func run(_ sql: String, _ arguments: Arguments = []) throws { try forEach(sql, arguments) { _ in } }

    /// Calls `body` for each row of a query.
    func forEach(_ sql: String, _ arguments: Arguments = [], _ body: (borrowing Row) throws -> Void) throws {
        try withStatement(sql, arguments) { statement in
            while try statement.step() { try body(Row(statement.pointer)) }
        }
    }

    /// The results of `read` for all rows of a query.
    func all<Value>(
        _ sql: String, _ arguments: Arguments = [], _ read: (borrowing Row) throws -> Value
    ) throws -> [Value] {
        var values: [Value] = []
        try forEach(sql, arguments) { row in values.append(try read(row)) }
        return values
    }

    /// The result of `read` for the first row of a query; `nil` if there is none.
    func first<Value>(
        _ sql: String, _ arguments: Arguments = [], _ read: (borrowing Row) throws -> Value
    ) throws -> Value? {
        try withStatement(sql, arguments) { statement in
            try statement.step() ? try read(Row(statement.pointer)) : nil
        }
    }

    private func withStatement<Value>(
        _ sql: String, _ arguments: Arguments, _ body: (Statement) throws -> Value
    ) throws -> Value {
        // The statement is removed from the cache while it runs, so that a nested query with the same text gets a statement of its
        // own.
        let statement = try statements.removeValue(forKey: sql) ?? Statement(sql, connection)
        defer {
            statement.reset()
            statements[sql] = statement
        }
        try statement.bind(arguments)
        return try body(statement)
    }

    // MARK: Transactions

    /// Executes `body` in a transaction, which is rolled back if `body` throws.
    func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        try execute("BEGIN IMMEDIATE")
        do {
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            // Some errors, such as a full disk, roll back automatically.
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// Executes `body` in a savepoint of the current transaction; the changes of `body` are undone if it throws.
    func savepoint<Value>(_ body: () throws -> Value) throws -> Value {
        try execute("SAVEPOINT batch")
        do {
            let value = try body()
            try execute("RELEASE batch")
            return value
        } catch {
            if isInTransaction { try? execute("ROLLBACK TO batch; RELEASE batch") }
            throw error
        }
    }

    var isInTransaction: Bool { sqlite3_get_autocommit(connection) == 0 }
    /// The number of rows that the latest INSERT, UPDATE or DELETE changed.
    var changesCount: Int { Int(sqlite3_changes(connection)) }
    /// The number of rows that were changed since the connection was opened.
    var totalChangesCount: Int { Int(sqlite3_total_changes(connection)) }
    var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(connection) }
}

/// A compiled statement.
private final class Statement {
    let pointer: OpaquePointer

    init(_ sql: String, _ connection: OpaquePointer?) throws {
        var pointer: OpaquePointer?
        let code = sqlite3_prepare_v2(connection, sql, -1, &pointer, nil)
        guard code == SQLITE_OK, let pointer else { throw DatabaseError(code: code, connection) }
        self.pointer = pointer
    }

    deinit { sqlite3_finalize(pointer) }

    /// Binds all arguments, in the order of the parameters.
    func bind(_ arguments: Database.Arguments) throws {
        guard arguments.count == sqlite3_bind_parameter_count(pointer) else {
            throw DatabaseError(code: SQLITE_RANGE, message: "wrong number of arguments: \(arguments.count)")
        }
        for (index, argument) in zip(Int32(1)..., arguments) {
            let code = argument?.bind(to: pointer, at: index) ?? sqlite3_bind_null(pointer, index)
            guard code == SQLITE_OK else { throw DatabaseError(code: code, sqlite3_db_handle(pointer)) }
        }
    }

    /// Advances to the next row; returns false after the last one.
    func step() throws -> Bool {
        let code = sqlite3_step(pointer)
        guard code == SQLITE_ROW || code == SQLITE_DONE else {
            throw DatabaseError(code: code, sqlite3_db_handle(pointer))
        }
        return code == SQLITE_ROW
    }

    /// Makes the statement ready to run again, without arguments. Its error, if any, has been thrown already.
    func reset() {
        sqlite3_reset(pointer)
        sqlite3_clear_bindings(pointer)
    }
}
