/// Between which two of its priority a download is to be, as if it were not listed itself.
package struct QueueGap: Hashable, Sendable {
    /// Who is right before it; `nil` when it comes first.
    package var left: QueuePlace?
    /// Who is right behind it; `nil` when it comes last.
    package var right: QueuePlace?

    package init(left: QueuePlace? = nil, right: QueuePlace? = nil) {
        self.left = left
        self.right = right
    }
}
