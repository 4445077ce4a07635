import FerryCore
import HeapModule

/// The indexes of the queue over its entries; contains nothing that cannot be derived from them.
struct QueueIndex: Sendable {
    /// Downloads that wait for a slot, by session and network needs.
    private var lanes: [StampedHeap<QueueKey>] = []
    /// Downloads that wait for a time.
    private var timers = StampedHeap<Duration>()
    /// Downloads with a run, and those that keep the slot of one during a change.
    private(set) var occupied: Set<DownloadID> = []
    /// The number of runs of each session.
    private(set) var groupCounts: [UInt16: Int] = [:]
    /// Runs that have no request to stop.
    private(set) var runningCount = 0
    private(set) var parkedCount = 0
    /// The number of reported waits for a network.
    var reportedCount = 0

    mutating func insert(_ id: DownloadID, _ entry: QueueEntry) {
        if entry.wasReported { reportedCount += 1 }
        switch entry.state {
        case .resting(.parked): parkedCount += 1
        case .resting(.queued):
            while lanes.count <= entry.heap { lanes.append(StampedHeap()) }
            lanes[entry.heap].insert(entry.key, id, stamp: entry.stamp)
        case .resting(.waiting(let until)): timers.insert(until, id, stamp: entry.stamp)
        case .changing where !entry.takesSlot: break
        case .running, .stopping, .changing, .leaving:
            occupied.insert(id)
            groupCounts[entry.group, default: 0] += 1
            if entry.state.isRunning { runningCount += 1 }
        }
    }

    /// Removes a former entry; `entries` must already reflect that.
    mutating func remove(_ id: DownloadID, _ old: QueueEntry, from entries: [DownloadID: QueueEntry]) {
        if old.wasReported { reportedCount -= 1 }
        switch old.state {
        case .resting(.parked): parkedCount -= 1
        case .resting(.queued): lanes[old.heap].forgetOne(in: entries)
        case .resting(.waiting): timers.forgetOne(in: entries)
        case .changing where !old.takesSlot: break
        case .running, .stopping, .changing, .leaving:
            occupied.remove(id)
            groupCounts[old.group, default: 0] -= 1
            if old.state.isRunning { runningCount -= 1 }
        }
    }

    /// The next download to wait for its time.
    mutating func nextTimer(in entries: [DownloadID: QueueEntry]) -> StampedHeap<Duration>.Node? {
        timers.first(in: entries)
    }

    /// The startable download with the smallest key.
    mutating func firstReady(in entries: [DownloadID: QueueEntry], _ rules: QueueRules) -> DownloadID? {
        let counts = groupCounts
        return first(in: entries) { rules.isPermitted(heap: $0) && rules.hasSlot(heap: $0, counts) }?.node.id
    }

    /// The downloads that would start now on another network: at most as many as there are free slots, in queue order.
    mutating func barred(in entries: [DownloadID: QueueEntry], _ rules: QueueRules) -> [DownloadID] {
        let free = rules.limit - occupied.count
        guard free > 0, lanes.indices.contains(where: { lanes[$0].count > 0 && !rules.isPermitted(heap: $0) }) else {
            return []
        }
        var counts = groupCounts
        var taken: [(heap: Int, node: StampedHeap<QueueKey>.Node)] = []
        while taken.count < free, let next = first(in: entries, where: { rules.hasSlot(heap: $0, counts) }) {
            _ = lanes[next.heap].takeFirst(in: entries)
            counts[QueueEntry.group(ofHeap: next.heap), default: 0] += 1
            taken.append(next)
        }
        for (heap, node) in taken { lanes[heap].putBack(node) }
        return taken.filter { !rules.isPermitted(heap: $0.heap) }.map(\.node.id)
    }

    private mutating func first(
        in entries: [DownloadID: QueueEntry], where isMeant: (Int) -> Bool
    ) -> (heap: Int, node: StampedHeap<QueueKey>.Node)? {
        var best: (heap: Int, node: StampedHeap<QueueKey>.Node)?
        for heap in lanes.indices where lanes[heap].count > 0 && isMeant(heap) {
            guard let node = lanes[heap].first(in: entries) else { continue }
            if best.map({ node < $0.node }) ?? true { best = (heap, node) }
        }
        return best
    }
}

extension QueueEntry {
    /// The index of its heap while it is queued: by session, then by network needs.
    fileprivate var heap: Int { Int(group) * NetworkNeeds.laneCount + Int(lane) }

    fileprivate static func group(ofHeap heap: Int) -> UInt16 { UInt16(heap / NetworkNeeds.laneCount) }
}

/// The limits and networks that the queue follows.
struct QueueRules: Sendable {
    /// Maximum number of running downloads, 0 or more.
    var limit: Int
    var network: NetworkSnapshot
    var sessions: SessionGroups
    /// The networks that downloads without rules of their own may use.
    var permissions = (metered: true, constrained: true)

    /// Whether a network that the download may use is available.
    func permits(_ entry: QueueEntry) -> Bool { obstacle(to: entry) == nil }

    /// Why the network does not permit the download; `nil` if it does.
    func obstacle(to entry: QueueEntry) -> ErrorPhrase.Key? {
        network.status.obstacle(to: NetworkNeeds(lane: Int(entry.lane)))
    }

    func isPermitted(heap: Int) -> Bool { network.status.permits(NetworkNeeds(lane: heap % NetworkNeeds.laneCount)) }

    func hasSlot(heap: Int, _ counts: [UInt16: Int]) -> Bool { hasSlot(QueueEntry.group(ofHeap: heap), counts) }

    /// Whether a session may have one run more than these.
    func hasSlot(_ group: UInt16, _ counts: [UInt16: Int]) -> Bool {
        sessions.settings(of: group).maxConcurrentDownloads.map { (counts[group] ?? 0) < $0 } ?? true
    }

    /// Whether a session has more runs than it may.
    func isCrowded(_ counts: [UInt16: Int]) -> Bool {
        counts.contains { group, count in
            sessions.settings(of: group).maxConcurrentDownloads.map { count > max(0, $0) } ?? false
        }
    }

    /// The lane of a download's network needs: by its rule, else its session's, else the manager's.
    func lane(of entry: QueueEntry, isLocal: Bool) -> UInt8 {
        let own = sessions.settings(of: entry.group)
        let needs = entry.rule.needs(
            isLocal: isLocal, allowsMetered: permissions.metered && own.allowsMetered ?? true,
            allowsConstrained: permissions.constrained && own.allowsConstrained ?? true)
        return UInt8(needs.lane)
    }
}

/// A heap of downloads with lazy removal: a node is valid only while its stamp equals that of the download's entry.
///
/// Stale nodes are skipped, and removed in bulk once they clearly outnumber the valid ones.
struct StampedHeap<Order: Comparable & Sendable>: Sendable {
    struct Node: Comparable, Sendable {
        let order: Order
        let id: DownloadID
        let stamp: UInt64

        static func < (left: Node, right: Node) -> Bool {
            left.order != right.order ? left.order < right.order : left.id.rawValue < right.id.rawValue
        }
        static func == (left: Node, right: Node) -> Bool { left.order == right.order && left.id == right.id }
    }

    private var nodes = Heap<Node>()
    /// The number of valid nodes.
    private(set) var count = 0

    mutating func insert(_ order: Order, _ id: DownloadID, stamp: UInt64) {
        nodes.insert(Node(order: order, id: id, stamp: stamp))
        count += 1
    }

    /// Records that one node became stale; `entries` must already reflect that.
    mutating func forgetOne(in entries: [DownloadID: QueueEntry]) {
        count -= 1
        guard nodes.count > 2 * count + 64 else { return }
        nodes = Heap(nodes.unordered.filter { entries[$0.id]?.stamp == $0.stamp })
    }

    /// Removes the first valid node. It must be returned with ``putBack(_:)`` before any other change.
    mutating func takeFirst(in entries: [DownloadID: QueueEntry]) -> Node? {
        guard let node = first(in: entries) else { return nil }
        nodes.removeMin()
        return node
    }

    mutating func putBack(_ node: Node) { nodes.insert(node) }

    /// Returns the first valid node.
    mutating func first(in entries: [DownloadID: QueueEntry]) -> Node? {
        while let node = nodes.min {
            if entries[node.id]?.stamp == node.stamp { return node }
            nodes.removeMin()
        }
        return nil
    }
}
