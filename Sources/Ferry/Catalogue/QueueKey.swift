// Stands in until FerryCore has the key; the same shape and order.
/// Where a download stands in the list: higher priorities first, then lower positions.
package struct QueueKey: Comparable, Hashable, Sendable, Codable {
    package var priority: Int
    package var position: Int64

    package init(priority: Int, position: Int64) {
        self.priority = priority
        self.position = position
    }

    package static func < (left: QueueKey, right: QueueKey) -> Bool {
        left.priority != right.priority ? left.priority > right.priority : left.position < right.position
    }
}
