package import FerryCore

extension QueueMachine {
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

        init(_ id: DownloadID, _ reason: StopReason) {
            self.id = id
            self.reason = reason
        }
    }

    /// The actions to take now.
    package struct Decision: Sendable, Hashable {
        /// The downloads to start, in queue order; each has a new ``Run``.
        package var start: [DownloadID] = []
        /// Why those of ``start`` that are not to try end at once.
        package var refused: [DownloadID: HostRefusal] = [:]
        /// The downloads whose runs are to stop, keeping their partial content, in queue order.
        package var stop: [Stop] = []
        /// The queued downloads that wait for another reason than was told, because of their servers.
        package var told: Set<DownloadID> = []
        /// When to call `decide` again if no event comes before; `nil` for never.
        package var nextWake: Duration?
    }

    /// A server that nothing is requested from.
    package struct HostRefusal: Sendable, Hashable {
        package enum Reason: Sendable, Hashable {
            /// It was given up after this number of attempts.
            case givenUp(HostHealth.Cause, attempts: Int)
            /// It is down, or has asked to wait, and the list does not wait for servers.
            case absent(HostWait)
        }

        package var origin: Origin
        package var reason: Reason
    }

    /// Decides which downloads start and stop now. A second call without an event between returns no further changes.
    ///
    /// - Parameter hosts: Which servers' downloads may start.
    package mutating func decide(at now: Duration, hosts: some HostGate = OpenHostGate()) -> Decision {
        var decision = Decision()
        wake(at: now)
        decision.stop = stopUnpermitted() + stopBeyondLimit()
        if decision.stop.count > 1 {
            let keys = entries
            decision.stop.sort { Self.isOrdered($0.id, $1.id, in: keys) }
        }
        start(&decision, at: now, hosts)
        decision.told = index.takeNews(at: now, in: entries, sites)
        decision.nextWake = [index.nextTimer(in: entries)?.order, index.nextOpening(), index.nextNews]
            .compactMap(\.self).min()
        return decision
    }

    /// Gives the free slots, in the order of the keys. Servers whose downloads must wait are passed over; so are, while
    /// others of the same priority wait, those that have their share of the slots.
    private mutating func start(_ decision: inout Decision, at now: Duration, _ hosts: some HostGate) {
        index.openLines(at: now, all: mustAskHosts, in: entries)
        mustAskHosts = false
        var modest: (sites: [QueuedSites.Number], priority: Int) = ([], .min)
        var isSharing = rules.sharesSlotsByHost
        while true {
            let first = index.firstReady(in: entries, rules)
            guard let next = first, let entry = entries[next], entry.key.priority >= modest.priority else {
                if modest.sites.isEmpty || first == nil && rules.expectsOtherHosts { return }
                // Nobody else waits: the rest is theirs.
                for site in modest.sites { index.open(site, in: entries) }
                (modest, isSharing) = (([], .min), false)
                continue
            }
            guard let origin = sites.origin(of: entry.site) else {
                start(next, &decision)
                continue
            }
            switch hosts.opening(of: origin, at: now) {
            case .shut(_, let wait) where wait.isOfServer && !rules.waitsForServers:
                decision.refused[next] = HostRefusal(origin: origin, reason: .absent(wait))
                start(next, &decision)
            case .shut(let until, let wait): index.shut(entry.site, until: until, wait)
            case .refused(let cause, let attempts):
                decision.refused[next] = HostRefusal(origin: origin, reason: .givenUp(cause, attempts: attempts))
                start(next, &decision)
            case .open where isSharing && rules.sharesSlots(entry.group) && isAtShare(entry.site):
                if modest.sites.isEmpty { modest.priority = entry.key.priority }
                modest.sites.append(entry.site)
                index.shut(entry.site, until: nil, nil)
            case .open:
                hosts.began(origin, at: now)
                start(next, &decision)
            }
        }
    }

    private func isAtShare(_ site: QueuedSites.Number) -> Bool { index.siteCounts[site] ?? 0 >= rules.share }

    private mutating func start(_ id: DownloadID, _ decision: inout Decision) {
        take(.start(Run()), of: id)
        decision.start.append(id)
    }

    /// Asks the gate about all servers at the next ``decide(at:hosts:)``.
    package mutating func hostsChanged() { mustAskHosts = true }

    /// Queues the downloads that have waited for their time; ``decide(at:)`` does so too.
    @discardableResult
    mutating func wake(at now: Duration) -> [DownloadID] {
        var woken: [DownloadID] = []
        while let first = index.nextTimer(in: entries), first.order <= now {
            take(.wake, of: first.id)
            woken.append(first.id)
        }
        return woken
    }

    private mutating func stopUnpermitted() -> [Stop] {
        guard mustReview else { return [] }
        mustReview = false
        let barred = index.occupied.filter { id in entries[id].map { $0.state.isRunning && !rules.permits($0) } ?? false
        }
        for id in barred { take(.stop, of: id) }
        return barred.map { Stop($0, .network) }
    }

    private mutating func stopBeyondLimit() -> [Stop] {
        guard index.runningCount > rules.limit || rules.isCrowded(index.groupCounts) else { return [] }
        var kept = 0
        var keptOf: [UInt16: Int] = [:]
        var last: [DownloadID] = []
        let running = index.occupied.filter { entries[$0]?.state.isRunning ?? false }
        for id in running.sorted(by: { Self.isOrdered($0, $1, in: entries) }) {
            let group = entries[id]?.group ?? 0
            let isShared = rules.sharesSlots(group)
            if !isShared || kept < rules.limit, rules.hasSlot(group, keptOf) {
                if isShared { kept += 1 }
                keptOf[group, default: 0] += 1
            } else {
                last.append(id)
            }
        }
        for id in last { take(.stop, of: id) }
        return last.map { Stop($0, .slot) }
    }

    /// The runs whose slots another download waits for, and for nothing else.
    mutating func contestedRuns() -> [Run] {
        guard index.lacksSlot(in: entries, rules) else { return [] }
        return index.occupied.compactMap { id in
            entries[id].flatMap { rules.sharesSlots($0.group) ? $0.state.run : nil }
        }
    }

    /// Downloads blocked only by their network rule: they would start at the next ``decide(at:)`` on another network.
    /// Only those for which that has not been reported yet; at most as many as there are free slots, in queue order.
    mutating func newlyBarred() -> [DownloadID] { index.barred(in: entries, rules).filter { report($0) } }

    /// Marks the wait of a download for a network as reported. Returns false if it was already.
    @discardableResult
    mutating func report(_ id: DownloadID) -> Bool {
        guard entries[id]?.wasReported == false else { return false }
        entries[id]?.wasReported = true
        index.reportedCount += 1
        return true
    }

    /// Forgets that waits were reported which are over on the present network.
    mutating func forgetReports() {
        guard index.reportedCount > 0 else { return }
        for (id, entry) in entries where entry.wasReported && entry.state.isQueued && rules.permits(entry) {
            entries[id]?.wasReported = false
            index.reportedCount -= 1
        }
    }

    private static func isOrdered(
        _ left: DownloadID, _ right: DownloadID, in entries: [DownloadID: QueueEntry]
    ) -> Bool {
        guard let a = entries[left]?.key, let b = entries[right]?.key, a != b else {
            return left.rawValue < right.rawValue
        }
        return a < b
    }
}
