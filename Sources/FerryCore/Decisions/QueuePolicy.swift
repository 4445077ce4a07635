/// Who runs, and who waits: at most `limit` downloads run, in the order of their keys.
///
///     join, restore ──► ready ──decide──► running ──block──► blocked ──its time──► ready
///     decide or leave: running ──► ending (its slot is still taken) ──stopped──► ready, blocked or gone
///
/// - Only ``decide(at:)`` starts and stops. Of those whose needs the network permits, the one with the smallest key runs
///   next.
/// - Joining takes the last position; being stopped by `decide`, and backing off, keep it.
/// - A download of a higher priority takes the next free slot; it stops nobody who runs.
/// - One that was told to stop keeps its slot until ``stopped(_:)``: never do more than `limit` hold connections, files
///   or time-outs, and no download has two runs. Joining again meanwhile waits for that.
///
/// Only queued downloads are in it: not those that are paused or have ended. Time is a `Duration` since any start that
/// stays the same. Each event costs O(log n); what it says does not depend on the order of hashing.
package struct QueuePolicy: Sendable {
    enum Phase: UInt8, Sendable {
        case ready, blocked, running
        /// Told to stop; waits, is blocked, or goes when it has.
        case endingToWait, endingToBlock, endingToLeave

        var takesSlot: Bool { self != .ready && self != .blocked }
    }

    struct Entry: Sendable {
        var key: QueueKey
        /// New with each change of what orders it.
        var stamp: UInt32
        var lane: UInt8
        var phase: Phase
        /// Whose it is; 0 for nobody in particular.
        var group: UInt16 = 0

        /// Which heap of the ready ones is its.
        var heap: Int { Int(group) * NetworkNeeds.laneCount + Int(lane) }
    }

    /// How many may run; 0 or more.
    package private(set) var limit: Int
    package private(set) var network: NetworkStatus
    /// The last position that was ever taken.
    package private(set) var lastPosition: Int64

    var entries: [DownloadID: Entry] = [:]
    /// Of those that are, or will be, blocked.
    var untils: [DownloadID: Duration] = [:]
    /// How many of a group may run; as many as there are slots where it has no limit.
    var groupLimits: [UInt16: Int] = [:]
    /// Slots that each group has taken, those that are ending included.
    var groupCounts: [UInt16: Int] = [:]
    /// The ready ones, by group and by what they ask of the network.
    var lanes = [StampedHeap<QueueKey>](repeating: StampedHeap(), count: NetworkNeeds.laneCount)
    /// The blocked ones.
    var timers = StampedHeap<Duration>()
    /// Those that run and were not told to stop.
    var running: Set<DownloadID> = []
    /// How many were told to stop and have not.
    var endingCount = 0
    /// Something changed that may forbid one that runs to do so.
    var mustReview = false
    private var stamp: UInt32 = 0

    /// An empty queue; a negative limit is 0.
    package init(limit: Int, network: NetworkStatus = .online, lastPosition: Int64 = 0) {
        self.limit = max(0, limit)
        self.network = network
        self.lastPosition = lastPosition
    }

    // MARK: Coming and going

    /// It wants to run: added or resumed. One that is queued already stays as it is.
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

    /// It was queued when the program ended, and goes on under its key. One that is queued already stays as it is.
    package mutating func restore(
        _ id: DownloadID, key: QueueKey, needs: NetworkNeeds = NetworkNeeds(), until: Duration? = nil, group: Int = 0
    ) {
        note(position: key.position)
        if let entry = entries[id], entry.phase != .endingToLeave { return }
        enter(id, key: key, needs: needs, until: until, group: group)
    }

    /// It is paused or cancelled. If it runs, it keeps its slot until ``stopped(_:)`` or ``ended(_:)``.
    package mutating func leave(_ id: DownloadID) {
        guard let entry = entries[id] else { return }
        switch entry.phase {
        case .ready, .blocked: remove(id)
        case .running, .endingToWait, .endingToBlock: change(id, to: .endingToLeave)
        case .endingToLeave: break
        }
    }

    /// Its run has ended by itself, completed or failed: it leaves, and its slot is free.
    package mutating func ended(_ id: DownloadID) { remove(id) }

    /// Its run has ended after it was told to stop, or after ``leave(_:)``: its slot is free.
    ///
    /// One that nobody told to stop waits again, under its key.
    package mutating func stopped(_ id: DownloadID) {
        guard let entry = entries[id] else { return }
        switch entry.phase {
        case .ready, .blocked: break
        case .running, .endingToWait: change(id, to: .ready)
        case .endingToBlock: change(id, to: .blocked, until: untils[id])
        case .endingToLeave: remove(id)
        }
    }

    /// It must not start before `until`; its key is kept. If it runs, its run has ended and its slot is free; if it was
    /// told to stop, it keeps its slot until ``stopped(_:)``.
    package mutating func block(_ id: DownloadID, until: Duration) {
        guard let entry = entries[id] else { return }
        switch entry.phase {
        case .ready, .blocked, .running: change(id, to: .blocked, until: until)
        case .endingToWait, .endingToBlock: change(id, to: .endingToBlock, until: until)
        case .endingToLeave: break
        }
    }

    /// It need not wait for its time any more.
    package mutating func ready(_ id: DownloadID) {
        switch entries[id]?.phase {
        case .blocked: change(id, to: .ready)
        case .endingToBlock: change(id, to: .endingToWait)
        case .ready, .running, .endingToWait, .endingToLeave, nil: break
        }
    }

    // MARK: Changing

    /// How many may run; negative is 0.
    package mutating func set(limit: Int) { self.limit = max(0, limit) }

    /// How many of a group may run, under the limit of all; `nil` for no limit of its own, negative is 0.
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

    /// It keeps its position. `nil` when it is not queued.
    @discardableResult
    package mutating func setPriority(_ priority: DownloadPriority, of id: DownloadID) -> QueueKey? {
        guard let entry = entries[id] else { return nil }
        let key = QueueKey(priority: priority.rawValue, position: entry.key.position)
        set(key: key, of: id)
        return key
    }

    /// Its place is another now; of those that are not queued only the position is noted.
    package mutating func set(key: QueueKey, of id: DownloadID) {
        note(position: key.position)
        guard var entry = entries[id], entry.key != key else { return }
        entry.key = key
        replace(id, with: entry, until: untils[id])
    }

    /// A position that is taken by something that is listed but not queued.
    package mutating func note(position: Int64) { lastPosition = max(lastPosition, position) }

    /// The position behind all others. It is taken: the next one is behind it.
    package mutating func takePosition() -> Int64 {
        let (next, overflow) = lastPosition.addingReportingOverflow(PlacementPlanner.spacing)
        lastPosition = overflow ? .max : next
        return lastPosition
    }
}

// MARK: - Keeping the parts together

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

    /// Takes it out of where its phase kept it.
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
