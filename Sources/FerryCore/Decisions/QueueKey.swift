/// The place of a download among all others: what comes first is smaller.
///
/// A higher priority comes first; among equals, the lower position. Keys need not be unique: the id decides then.
package struct QueueKey: Comparable, Hashable, Sendable, Codable {
    /// As ``DownloadPriority``: any whole number, higher first.
    package var priority: Int
    /// Grows with each download that joins; spaced, so that there is room between two.
    package var position: Int64

    package init(priority: Int, position: Int64) {
        self.priority = priority
        self.position = position
    }

    package static func < (left: QueueKey, right: QueueKey) -> Bool {
        left.priority != right.priority ? left.priority > right.priority : left.position < right.position
    }
}

/// A listed download and its place.
package struct QueuePlace: Hashable, Sendable {
    package var id: DownloadID
    package var key: QueueKey

    package init(id: DownloadID, key: QueueKey) {
        self.id = id
        self.key = key
    }
}
