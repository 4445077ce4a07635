/// The queue: at most `limit` downloads run, in the order of their keys.
///
///     join, restore ──► ready ──decide──► running ──block──► blocked ──its time──► ready
///     decide or leave: running ──► ending (its slot is still taken) ──stopped──► ready, blocked or gone
///
/// - Only ``decide(at:)`` starts and stops downloads. The next to run is the one with the smallest key among those that
///   the network and their group's limit permit.
/// - Joining takes the last position; a stop by `decide` and a back-off keep the position.
/// - A download of a higher priority takes the next free slot; it does not preempt running ones.
/// - A download that was told to stop keeps its slot until ``stopped(_:)``, so that never more than `limit` downloads
///   hold connections, files or timers, and no download has two runs. Joining again before that waits for it.
///
/// Only queued downloads are in the policy, not paused or ended ones. Time is a `Duration` since a fixed start. Each
/// event costs O(log n); the results do not depend on hash order.
package struct QueuePolicy: Sendable {
    enum Phase: UInt8, Sendable {
        case ready, blocked, running
        /// Told to stop; afterwards ready, blocked or removed.
        case endingToWait, endingToBlock, endingToLeave

        var takesSlot: Bool { self != .ready && self != .blocked }
    }

    struct Entry: Sendable {
        var key: QueueKey
        /// Changes with every change of the entry, which invalidates its heap nodes.
        var stamp: UInt32
        var lane: UInt8
        var phase: Phase
        /// The group (session) that the download counts against; 0 for none in particular.
        var group: UInt16 = 0

        /// The index of the heap in ``lanes`` for this entry while it is ready.
        var heap: Int { Int(group) * NetworkNeeds.laneCount + Int(lane) }
    }

    /// The maximum number of running downloads, 0 or more.
    package private(set) var limit: Int
    package private(set) var network: NetworkStatus
    /// The last position that was ever assigned.
    package private(set) var lastPosition: Int64

    var entries: [DownloadID: Entry] = [:]
    /// The end times of downloads that are blocked, or will be after their run has ended.
    var untils: [DownloadID: Duration] = [:]
    /// Maximum running downloads per group; groups without an entry are limited by ``limit`` only.
    var groupLimits: [UInt16: Int] = [:]
    /// Occupied slots per group, including ending downloads.
    var groupCounts: [UInt16: Int] = [:]
    /// Ready downloads, by group and network needs.
    var lanes = [StampedHeap<QueueKey>](repeating: StampedHeap(), count: NetworkNeeds.laneCount)
    /// Blocked downloads, by end time.
    var timers = StampedHeap<Duration>()
    /// Running downloads that were not told to stop.
    var running: Set<DownloadID> = []
    /// The number of downloads that were told to stop and have not stopped yet.
    var endingCount = 0
    /// The network or some needs have changed, so running downloads may no longer be permitted.
    var mustReview = false
    private var stamp: UInt32 = 0

    /// Creates an empty queue; a negative limit counts as 0.
    package init(limit: Int, network: NetworkStatus = .online, lastPosition: Int64 = 0) {
        self.limit = max(0, limit)
        self.network = network
        self.lastPosition = lastPosition
    }

    // MARK: Coming and going

    /// Adds a download that was added or resumed, at the last position. No effect if it is already queued.
    @discardableResult
    package mutating func join(
        _ id: DownloadID, priority: DownloadPriority = .normal, needs: NetworkNeeds = NetworkNeeds(),
        notBefore: Duration? = nil, group: Int = 0
    ) -> QueueKey {
        if let entry = entries[id], entry.phase != .endingToLeave { return entry.key }
        let key = QueueKey(priority: priority.rawValue, position: takePosition())
        enter(id, key: key, needs: needs, until: notBefore, group: group)
        return key
    }

    /// Adds a download that was queued when the process ended, under its old key. No effect if it is already queued.
    package mutating func restore(
        _ id: DownloadID, key: QueueKey, needs: NetworkNeeds = NetworkNeeds(), until: Duration? = nil, group: Int = 0
    ) {
        note(position: key.position)
        if let entry = entries[id], entry.phase != .endingToLeave { return }
        enter(id, key: key, needs: needs, until: until, group: group)
    }

    /// Removes a paused or cancelled download. A running one keeps its slot until ``stopped(_:)`` or ``ended(_:)``.
    package mutating func leave(_ id: DownloadID) {
        guard let entry = entries[id] else { return }
        switch entry.phase {
        case .ready, .blocked: remove(id)
        case .running, .endingToWait, .endingToBlock: change(id, to: .endingToLeave)
        case .endingToLeave: break
        }
    }

    /// Removes a download that has completed or failed by itself, and frees its slot.
    package mutating func ended(_ id: DownloadID) { remove(id) }

    /// Frees the slot of a download after a stop or ``leave(_:)``, when its run has ended.
    ///
    /// A download that was not told to stop becomes ready again, under its key.
    package mutating func stopped(_ id: DownloadID) {
        guard let entry = entries[id] else { return }
        switch entry.phase {
        case .ready, .blocked: break
        case .running, .endingToWait: change(id, to: .ready)
        case .endingToBlock: change(id, to: .blocked, until: untils[id])
        case .endingToLeave: remove(id)
        }
    }

    /// Blocks a download until `until`; its key is kept. If it was running, its run has ended and its slot is free; if
    /// it was told to stop, it keeps its slot until ``stopped(_:)``.
    package mutating func block(_ id: DownloadID, until: Duration) {
        guard let entry = entries[id] else { return }
        switch entry.phase {
        case .ready, .blocked, .running: change(id, to: .blocked, until: until)
        case .endingToWait, .endingToBlock: change(id, to: .endingToBlock, until: until)
        case .endingToLeave: break
        }
    }

    /// Ends the blocking of a download before its time.
    package mutating func ready(_ id: DownloadID) {
        switch entries[id]?.phase {
        case .blocked: change(id, to: .ready)
        case .endingToBlock: change(id, to: .endingToWait)
        case .ready, .running, .endingToWait, .endingToLeave, nil: break
        }
    }

    // MARK: Changing

    /// Changes the limit of all downloads; a negative one counts as 0.
    package mutating func set(limit: Int) { self.limit = max(0, limit) }

    /// Changes the limit of a group, under the limit of all; `nil` for none of its own, a negative one counts as 0.
    package mutating func set(limit: Int?, ofGroup group: Int) {
        groupLimits[UInt16(clamping: group)] = limit.map { max(0, $0) }
    }

    package mutating func set(network: NetworkStatus) {
        guard network != self.network else { return }
        self.network = network
        mustReview = true
    }

    package mutating func setNeeds(_ needs: NetworkNeeds, of id: DownloadID) {
        guard var entry = entries[id], entry.lane != UInt8(needs.lane) else { return }
        entry.lane = UInt8(needs.lane)
        replace(id, with: entry, until: untils[id])
        mustReview = true
    }

    /// Changes the priority and keeps the position. Returns `nil` when the download is not queued.
    @discardableResult
    package mutating func setPriority(_ priority: DownloadPriority, of id: DownloadID) -> QueueKey? {
        guard let entry = entries[id] else { return nil }
        let key = QueueKey(priority: priority.rawValue, position: entry.key.position)
        set(key: key, of: id)
        return key
    }

    /// Changes the key of a download; if it is not queued, only the position is recorded.
    package mutating func set(key: QueueKey, of id: DownloadID) {
        note(position: key.position)
        guard var entry = entries[id], entry.key != key else { return }
        entry.key = key
        replace(id, with: entry, until: untils[id])
    }

    /// Records a position as assigned to a listed download that is not queued.
    package mutating func note(position: Int64) { lastPosition = max(lastPosition, position) }

    /// Assigns the position after all others.
    package mutating func takePosition() -> Int64 {
        let (next, overflow) = lastPosition.addingReportingOverflow(PlacementPlanner.spacing)
        lastPosition = overflow ? .max : next
        return lastPosition
    }
}

// MARK: - Entries and indices

extension QueuePolicy {
    private mutating func enter(_ id: DownloadID, key: QueueKey, needs: NetworkNeeds, until: Duration?, group: Int) {
        let phase: Phase =
            switch (entries[id] == nil, until == nil) {
            case (true, true): .ready
            case (true, false): .blocked
            case (false, true): .endingToWait
            case (false, false): .endingToBlock
            }
        let entry = Entry(
            key: key, stamp: 0, lane: UInt8(needs.lane), phase: phase, group: UInt16(clamping: group))
        while lanes.count < (Int(entry.group) + 1) * NetworkNeeds.laneCount { lanes.append(StampedHeap()) }
        replace(id, with: entry, until: until)
    }

    mutating func change(_ id: DownloadID, to phase: Phase, until: Duration? = nil) {
        guard var entry = entries[id] else { return }
        entry.phase = phase
        replace(id, with: entry, until: until)
    }

    private mutating func remove(_ id: DownloadID) {
        guard let old = entries.removeValue(forKey: id) else { return }
        release(id, old)
    }

    private mutating func replace(_ id: DownloadID, with entry: Entry, until: Duration?) {
        stamp &+= 1
        var entry = entry
        entry.stamp = stamp
        let old = entries.updateValue(entry, forKey: id)
        if let old { release(id, old) }
        if entry.phase.takesSlot { groupCounts[entry.group, default: 0] += 1 }
        switch entry.phase {
        case .ready: lanes[entry.heap].insert(entry.key, id, stamp: stamp)
        case .blocked:
            untils[id] = until ?? .zero
            timers.insert(until ?? .zero, id, stamp: stamp)
        case .running: running.insert(id)
        case .endingToWait, .endingToLeave: endingCount += 1
        case .endingToBlock:
            untils[id] = until ?? .zero
            endingCount += 1
        }
    }

    /// Removes the entry from the index of its phase.
    private mutating func release(_ id: DownloadID, _ old: Entry) {
        if old.phase.takesSlot { groupCounts[old.group, default: 0] -= 1 }
        switch old.phase {
        case .ready: lanes[old.heap].forgetOne(in: entries)
        case .blocked:
            untils[id] = nil
            timers.forgetOne(in: entries)
        case .running: running.remove(id)
        case .endingToWait, .endingToLeave: endingCount -= 1
        case .endingToBlock:
            untils[id] = nil
            endingCount -= 1
        }
    }
}
