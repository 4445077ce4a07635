import CSQLite

/// An SQLite error.
struct DatabaseError: Error, CustomStringConvertible {
    /// The extended result code.
    let code: Int32
    let message: String

    init(code: Int32, message: String) {
        self.code = code
        self.message = message
    }

    /// The latest error of a connection; the connection is `nil` if there was no memory for it.
    init(code: Int32, _ connection: OpaquePointer?) {
        let message: UnsafePointer<CChar>? = connection == nil ? sqlite3_errstr(code) : sqlite3_errmsg(connection)
        self.init(code: code, message: message.map { String(cString: $0) } ?? "no reason given")
    }

    /// The result code without its extension.
    var primaryCode: Int32 { code & 0xff }

    /// Whether the statement failed because a row with the same primary key exists.
    var isOfPrimaryKey: Bool { code == SQLITE_CONSTRAINT | 6 << 8 }

    var description: String { "SQLite \(code): \(isOfSpace ? "the disk is full" : message)" }
}

extension DatabaseError {
    /// Whether the disk is full. The index of the log (`-shm`) is enlarged by writing to it, which fails with a code of its own.
    var isOfSpace: Bool { primaryCode == SQLITE_FULL || code == SQLITE_IOERR | 19 << 8 }

    /// Whether the database is damaged and must be replaced.
    var isOfDamage: Bool { primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB }

    /// Whether the data is valid and the same write may succeed later.
    var isOfTheDisk: Bool {
        switch primaryCode {
        case SQLITE_FULL, SQLITE_IOERR, SQLITE_BUSY, SQLITE_NOMEM, SQLITE_CANTOPEN, SQLITE_READONLY: true
        default: false
        }
    }
}
