package import FerryCore

/// The sort key of a download in the queue; smaller keys run first.
///
/// Ordered by descending priority, then by ascending position. Keys need not be unique: the identifier breaks ties.
package struct QueueKey: Comparable, Hashable, Sendable, Codable {
    /// Like ``DownloadPriority``: any integer, higher first.
    package var priority: Int
    /// Ascends with each download that is added, with gaps for later insertions.
    package var position: Int64

    package init(priority: Int, position: Int64) {
        self.priority = priority
        self.position = position
    }

    package static func < (left: QueueKey, right: QueueKey) -> Bool {
        left.priority != right.priority ? left.priority > right.priority : left.position < right.position
    }
}

/// A listed download and its sort key.
package struct QueuePlace: Hashable, Sendable {
    package var id: DownloadID
    package var key: QueueKey

    package init(id: DownloadID, key: QueueKey) {
        self.id = id
        self.key = key
    }
}

/// The neighbours of a target position, ignoring the moved download; both have its priority.
package struct QueueGap: Hashable, Sendable {
    /// The preceding neighbour; `nil` at the front.
    package var left: QueuePlace?
    /// The following neighbour; `nil` at the back.
    package var right: QueuePlace?

    package init(left: QueuePlace? = nil, right: QueuePlace? = nil) {
        self.left = left
        self.right = right
    }
}
