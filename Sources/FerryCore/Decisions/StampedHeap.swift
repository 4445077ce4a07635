import HeapModule

/// Downloads in order of something, where leaving costs nothing: a node counts only while it bears the stamp of its entry.
///
/// Nodes that no longer count are passed over, and swept out when they are more than those that do.
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
    /// Those that count.
    private(set) var count = 0

    mutating func insert(_ order: Order, _ id: DownloadID, stamp: UInt32) {
        nodes.insert(Node(order: order, id: id, stamp: stamp))
        count += 1
    }

    /// One that counted has another stamp now, or is gone; `entries` says so already.
    mutating func forgetOne(in entries: [DownloadID: QueuePolicy.Entry]) {
        count -= 1
        guard nodes.count > 2 * count + 64 else { return }
        nodes = Heap(nodes.unordered.filter { entries[$0.id]?.stamp == $0.stamp })
    }

    /// Takes the first that counts out, to be put back before anything else is done.
    mutating func takeFirst(in entries: [DownloadID: QueuePolicy.Entry]) -> Node? {
        guard let node = first(in: entries) else { return nil }
        nodes.removeMin()
        return node
    }

    mutating func putBack(_ node: Node) { nodes.insert(node) }

    /// The first that counts.
    mutating func first(in entries: [DownloadID: QueuePolicy.Entry]) -> Node? {
        while let node = nodes.min {
            if entries[node.id]?.stamp == node.stamp { return node }
            nodes.removeMin()
        }
        return nil
    }
}
