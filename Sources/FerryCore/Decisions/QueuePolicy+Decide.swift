extension QueuePolicy {
    /// Why a running download must stop.
    package enum StopReason: Sendable, Hashable {
        /// More downloads run than the limit permits, and its key is among the last.
        case slot
        /// The network is gone, or one that the download's needs do not permit.
        case network
    }

    package struct Stop: Sendable, Hashable {
        package var id: DownloadID
        package var reason: StopReason

        package init(_ id: DownloadID, _ reason: StopReason) {
            self.id = id
            self.reason = reason
        }
    }

    /// The actions to take now.
    package struct Decision: Sendable, Hashable {
        /// The downloads to start, in queue order.
        package var start: [DownloadID] = []
        /// The downloads to stop, keeping their partial content, in queue order. Each must be reported with
        /// ``QueuePolicy/stopped(_:)`` when its run has ended.
        package var stop: [Stop] = []
        /// When to call `decide` again if no event comes before; `nil` for never.
        package var nextWake: Duration?

        package init(start: [DownloadID] = [], stop: [Stop] = [], nextWake: Duration? = nil) {
            self.start = start
            self.stop = stop
            self.nextWake = nextWake
        }
    }

    /// Decides which downloads start and stop now. A second call without an event between returns no further changes.
    package mutating func decide(at now: Duration) -> Decision {
        var decision = Decision()
        wake(at: now)
        decision.stop = stopUnpermitted() + stopBeyondLimit()
        if decision.stop.count > 1 {
            let keys = entries
            decision.stop.sort { Self.isOrdered($0.id, $1.id, in: keys) }
        }
        while running.count + endingCount < limit, let next = firstReady() {
            change(next, to: .running)
            decision.start.append(next)
        }
        decision.nextWake = timers.first(in: entries)?.order
        return decision
    }

    /// Makes blocked downloads ready at the end of their time; ``decide(at:)`` does so too.
    @discardableResult
    package mutating func wake(at now: Duration) -> [DownloadID] {
        var woken: [DownloadID] = []
        while let first = timers.first(in: entries), first.order <= now {
            change(first.id, to: .ready)
            woken.append(first.id)
        }
        return woken
    }

    private mutating func stopUnpermitted() -> [Stop] {
        guard mustReview else { return [] }
        mustReview = false
        let barred = running.filter { id in
            entries[id].map { !network.permits(NetworkNeeds(lane: Int($0.lane))) } ?? false
        }
        for id in barred { change(id, to: .endingToWait) }
        return barred.map { Stop($0, .network) }
    }

    private mutating func stopBeyondLimit() -> [Stop] {
        let crowded = groupLimits.contains { group, limit in (groupCounts[group] ?? 0) > limit }
        guard running.count > limit || crowded else { return [] }
        var kept = 0
        var keptOf: [UInt16: Int] = [:]
        var last: [DownloadID] = []
        for id in running.sorted(by: { Self.isOrdered($0, $1, in: entries) }) {
            let group = entries[id]?.group ?? 0
            let own = keptOf[group, default: 0]
            if kept < limit, groupLimits[group].map({ own < $0 }) ?? true {
                kept += 1
                keptOf[group] = own + 1
            } else {
                last.append(id)
            }
        }
        for id in last { change(id, to: .endingToWait) }
        return last.map { Stop($0, .slot) }
    }

    /// Whether downloads of this heap may start: the network permits them, and their group has a free slot.
    func mayStart(heap: Int) -> Bool { hasSlot(heap: heap, groupCounts) && isPermitted(heap: heap) }

    private func hasSlot(heap: Int, _ counts: [UInt16: Int]) -> Bool {
        let group = UInt16(heap / NetworkNeeds.laneCount)
        guard let limit = groupLimits[group] else { return true }
        return (counts[group] ?? 0) < limit
    }

    private func isPermitted(heap: Int) -> Bool { network.permits(NetworkNeeds(lane: heap % NetworkNeeds.laneCount)) }

    /// Downloads blocked only by their network rule: they would start at the next ``decide(at:)`` on another network.
    /// At most as many as there are free slots, in queue order.
    package mutating func passedOver() -> [DownloadID] {
        let free = limit - running.count - endingCount
        guard free > 0, lanes.indices.contains(where: { lanes[$0].count > 0 && !isPermitted(heap: $0) }) else {
            return []
        }
        var counts = groupCounts
        var taken: [(heap: Int, node: StampedHeap<QueueKey>.Node)] = []
        while taken.count < free {
            var best: (heap: Int, node: StampedHeap<QueueKey>.Node)?
            for heap in lanes.indices where hasSlot(heap: heap, counts) {
                guard let node = lanes[heap].first(in: entries) else { continue }
                if best.map({ node < $0.node }) ?? true { best = (heap, node) }
            }
            guard let heap = best?.heap, let node = lanes[heap].takeFirst(in: entries) else { break }
            counts[UInt16(heap / NetworkNeeds.laneCount), default: 0] += 1
            taken.append((heap, node))
        }
        for (heap, node) in taken { lanes[heap].putBack(node) }
        return taken.filter { !isPermitted(heap: $0.heap) }.map(\.node.id)
    }

    /// The startable download with the smallest key.
    private mutating func firstReady() -> DownloadID? {
        var best: StampedHeap<QueueKey>.Node?
        for lane in lanes.indices where mayStart(heap: lane) {
            guard let node = lanes[lane].first(in: entries) else { continue }
            if best.map({ node < $0 }) ?? true { best = node }
        }
        return best?.id
    }

    private static func isOrdered(_ left: DownloadID, _ right: DownloadID, in entries: [DownloadID: Entry]) -> Bool {
        guard let a = entries[left]?.key, let b = entries[right]?.key, a != b else {
            return left.rawValue < right.rawValue
        }
        return a < b
    }
}

extension QueuePolicy {
    /// The position of a download in the queue's life cycle.
    package enum Standing: Sendable, Hashable {
        case running
        /// Told to stop or leaving, but still occupying its slot.
        case ending
        case waitsForSlot
        case waitsForNetwork
        /// Blocked until that time.
        case blocked(until: Duration)
    }

    /// Returns the standing of a download; `nil` when it is not queued.
    package func standing(of id: DownloadID) -> Standing? {
        guard let entry = entries[id] else { return nil }
        switch entry.phase {
        case .running: return .running
        case .endingToWait, .endingToBlock, .endingToLeave: return .ending
        case .blocked: return .blocked(until: untils[id] ?? .zero)
        case .ready: return network.permits(NetworkNeeds(lane: Int(entry.lane))) ? .waitsForSlot : .waitsForNetwork
        }
    }

    /// Returns the key of a download; `nil` when it is not queued.
    package func key(of id: DownloadID) -> QueueKey? { entries[id]?.key }

    /// The number of queued downloads, including running ones.
    package var count: Int { entries.count }

    /// The number of occupied slots: running and ending downloads.
    package var occupiedCount: Int { running.count + endingCount }
}
