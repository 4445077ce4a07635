import HeapModule

/// A heap of downloads with lazy removal: a node is valid only while its stamp equals that of the download's entry.
///
/// Stale nodes are skipped, and removed in bulk once they clearly outnumber the valid ones.
struct StampedHeap<Order: Comparable & Sendable>: Sendable {
    struct Node: Comparable, Sendable {
        let order: Order
        let id: DownloadID
        let stamp: UInt32

        static func < (left: Node, right: Node) -> Bool {
            left.order != right.order ? left.order < right.order : left.id.rawValue < right.id.rawValue
        }
        static func == (left: Node, right: Node) -> Bool { left.order == right.order && left.id == right.id }
    }

    private var nodes = Heap<Node>()
    /// The number of valid nodes.
    private(set) var count = 0

    mutating func insert(_ order: Order, _ id: DownloadID, stamp: UInt32) {
        nodes.insert(Node(order: order, id: id, stamp: stamp))
        count += 1
    }

    /// Records that one node became stale; `entries` must already reflect that.
    mutating func forgetOne(in entries: [DownloadID: QueuePolicy.Entry]) {
        count -= 1
        guard nodes.count > 2 * count + 64 else { return }
        nodes = Heap(nodes.unordered.filter { entries[$0.id]?.stamp == $0.stamp })
    }

    /// Removes the first valid node. It must be returned with ``putBack(_:)`` before any other change.
    mutating func takeFirst(in entries: [DownloadID: QueuePolicy.Entry]) -> Node? {
        guard let node = first(in: entries) else { return nil }
        nodes.removeMin()
        return node
    }

    mutating func putBack(_ node: Node) { nodes.insert(node) }

    /// Returns the first valid node.
    mutating func first(in entries: [DownloadID: QueuePolicy.Entry]) -> Node? {
        while let node = nodes.min {
            if entries[node.id]?.stamp == node.stamp { return node }
            nodes.removeMin()
        }
        return nil
    }
}
