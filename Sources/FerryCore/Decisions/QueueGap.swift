/// The neighbours of a target position, ignoring the moved download itself; both of its priority.
package struct QueueGap: Hashable, Sendable {
    /// The neighbour before; `nil` at the front.
    package var left: QueuePlace?
    /// The neighbour after; `nil` at the back.
    package var right: QueuePlace?

    package init(left: QueuePlace? = nil, right: QueuePlace? = nil) {
        self.left = left
        self.right = right
    }
}
