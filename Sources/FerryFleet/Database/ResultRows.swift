import FerryCore

/// The rows of a statement's result, as strings. Each value is checked where it is read, because other programs may write to the
/// database.
struct ResultRows: Sendable {
    let rows: [Row]

    struct Row: Sendable {
        let values: [String?]

        func text(_ column: Int) throws(DatabaseError) -> String {
            guard let text = optional(column) else { throw .unusable }
            return text
        }

        func optional(_ column: Int) -> String? { values.indices.contains(column) ? values[column] : nil }

        /// Returns a number; throws if it is out of range.
        func number(_ column: Int, in range: ClosedRange<Int64> = 0...Int64.max >> 1) throws(DatabaseError) -> Int64 {
            guard let number = Int64(try text(column)), range.contains(number) else { throw .unusable }
            return number
        }

        func number(_ column: Int, in range: ClosedRange<Int>) throws(DatabaseError) -> Int {
            Int(try number(column, in: Int64(range.lowerBound)...Int64(range.upperBound)))
        }

        /// Returns a 32-bit number, which may be negative.
        func integer(_ column: Int) throws(DatabaseError) -> Int {
            guard let number = Int32(try text(column)) else { throw .unusable }
            return Int(number)
        }

        /// Returns seconds, possibly with a fraction.
        func seconds(_ column: Int) throws(DatabaseError) -> Double {
            guard let value = Double(try text(column)), value.isFinite, value.magnitude < 1e12 else { throw .unusable }
            return value
        }

        func truth(_ column: Int) throws(DatabaseError) -> Bool { try text(column) == "t" }
    }

    /// Returns the row of a result that must have exactly one.
    func one() throws(DatabaseError) -> Row {
        guard rows.count == 1 else { throw .unusable }
        return rows[0]
    }
}
