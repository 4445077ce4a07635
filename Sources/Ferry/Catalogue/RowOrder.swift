package import FerryAPI

/// An order of rows; rows that compare equal are in list order, in both directions.
package struct RowOrder: Sendable, Hashable {
    /// Names compare by bytes, ignoring ASCII case; states by the raw value of ``StateKind``; unknown sizes come last in both
    /// directions.
    package typealias Column = ListQuery.Sort

    package var column: Column
    package var isDescending: Bool

    package init(_ column: Column, isDescending: Bool = false) {
        self.column = column
        self.isDescending = isDescending
    }

    /// List order.
    package static let queue = RowOrder(.queue)

    /// Whether a row precedes another in this order alone; `nil` if they compare equal.
    func isBefore(_ left: CatalogueRow, _ right: CatalogueRow) -> Bool? {
        switch column {
        case .queue: return nil
        case .added: return order(left.createdAt.storedSeconds, right.createdAt.storedSeconds)
        case .name: return order(Self.plain(left.name), Self.plain(right.name)) { $0.lexicographicallyPrecedes($1) }
        case .size:
            guard let one = left.totalBytes, let other = right.totalBytes else {
                return (left.totalBytes == nil) == (right.totalBytes == nil) ? nil : left.totalBytes != nil
            }
            return order(one, other)
        case .state: return order(StateKind(left.state).rawValue, StateKind(right.state).rawValue)
        }
    }

    private func order<Value: Comparable>(_ one: Value, _ other: Value) -> Bool? { order(one, other) { $0 < $1 } }

    private func order<Value: Equatable>(_ one: Value, _ other: Value, by less: (Value, Value) -> Bool) -> Bool? {
        if one == other { return nil }
        return less(one, other) != isDescending
    }

    private static func plain(_ text: String) -> [UInt8] {
        text.utf8.map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
    }
}
