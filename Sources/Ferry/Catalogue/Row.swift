import CSQLite

/// The current row of a query, valid while it is passed to a closure.
struct Row: ~Copyable {
    private let statement: OpaquePointer

    init(_ statement: OpaquePointer) { self.statement = statement }

    /// The value of a column; throws if it is NULL or of an unexpected type.
    subscript<Value: ColumnValue>(_ index: Int32) -> Value {
        get throws {
            guard let value = Value.read(statement, at: index) else {
                throw DatabaseError(
                    code: SQLITE_MISMATCH,
                    message: "\(String(cString: sqlite3_column_name(statement, index))) is not \(Value.self)")
            }
            return value
        }
    }
}
