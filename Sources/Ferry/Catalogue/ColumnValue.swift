import CSQLite

/// A value of a column, or an argument of a statement.
protocol ColumnValue {
    /// Binds the value to a parameter, counted from 1; returns SQLite's result code.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32

    /// Reads a column of the current row, counted from 0; `nil` if its value is of another type or does not fit.
    static func read(_ statement: OpaquePointer, at index: Int32) -> Self?
}

extension ColumnValue where Self: FixedWidthInteger {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, Int64(clamping: self))
    }

    static func read(_ statement: OpaquePointer, at index: Int32) -> Self? {
        guard sqlite3_column_type(statement, index) == SQLITE_INTEGER else { return nil }
        return Self(exactly: sqlite3_column_int64(statement, index))
    }
}

extension Int: ColumnValue {}
extension Int32: ColumnValue {}
extension Int64: ColumnValue {}

extension Bool: ColumnValue {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, self ? 1 : 0)
    }

    static func read(_ statement: OpaquePointer, at index: Int32) -> Bool? {
        Int64.read(statement, at: index).map { $0 != 0 }
    }
}

extension Double: ColumnValue {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 { sqlite3_bind_double(statement, index, self) }

    static func read(_ statement: OpaquePointer, at index: Int32) -> Double? {
        switch sqlite3_column_type(statement, index) {
        case SQLITE_FLOAT, SQLITE_INTEGER: sqlite3_column_double(statement, index)
        default: nil
        }
    }
}

extension String: ColumnValue {
    /// Binds the text up to its first NUL, where SQLite's functions would stop.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        // SQLITE_TRANSIENT makes SQLite copy the text. Swift does not import this macro, because it contains a cast.
        let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        return sqlite3_bind_text(statement, index, self, -1, copies)
    }

    static func read(_ statement: OpaquePointer, at index: Int32) -> String? {
        guard sqlite3_column_type(statement, index) == SQLITE_TEXT, let text = sqlite3_column_text(statement, index)
        else { return nil }
        let count = Int(sqlite3_column_bytes(statement, index))
        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }
}

/// `nil` is NULL.
extension Optional: ColumnValue where Wrapped: ColumnValue {
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        self?.bind(to: statement, at: index) ?? sqlite3_bind_null(statement, index)
    }

    static func read(_ statement: OpaquePointer, at index: Int32) -> Wrapped?? {
        if sqlite3_column_type(statement, index) == SQLITE_NULL { return .some(nil) }
        return Wrapped.read(statement, at: index).map(Optional.some)
    }
}
