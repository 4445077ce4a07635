import FerryCore
import HeapModule

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// The indexes of the queue over its entries; everything in them can be derived from the entries.
struct QueueIndex: Sendable {
    /// Downloads that wait for a slot, by session and network needs.
    private var lanes: [HostLines] = []
    private var shut = ShutLines()
    /// Downloads that wait for a time.
    private var timers = StampedHeap<Duration>()
    /// Downloads with a run, and downloads that keep the slot of a run during a change.
    private(set) var occupied: Set<DownloadID> = []
    /// The runs by download.
    private(set) var runs: [DownloadID: Run] = [:]
    /// The number of runs of each session.
    private(set) var groupCounts: [UInt16: Int] = [:]
    /// The number of runs of each server.
    private(set) var siteCounts: [QueuedSites.Number: Int] = [:]
    /// The number of runs without a request to stop.
    private(set) var runningCount = 0
    private(set) var parkedCount = 0
    /// The number of reported waits for a network.
    var reportedCount = 0

    mutating func insert(_ id: DownloadID, _ entry: QueueEntry) {
        if entry.wasReported { reportedCount += 1 }
        switch entry.state {
        case .resting(.parked): parkedCount += 1
        case .resting(.queued):
            while lanes.count <= entry.heap { lanes.append(HostLines()) }
            lanes[entry.heap].insert(entry.key, id, stamp: entry.stamp, site: entry.site)
        case .resting(.waiting(let until, _)): timers.insert(until, id, stamp: entry.stamp)
        case .changing where !entry.takesSlot: break
        case .running, .stopping, .changing, .leaving:
            occupied.insert(id)
            runs[id] = entry.state.run
            groupCounts[entry.group, default: 0] += 1
            siteCounts[entry.site, default: 0] += 1
            if entry.state.isRunning { runningCount += 1 }
        }
    }

    /// Removes a previous entry; `entries` must already reflect this.
    mutating func remove(_ id: DownloadID, _ old: QueueEntry, from entries: [DownloadID: QueueEntry]) {
        if old.wasReported { reportedCount -= 1 }
        switch old.state {
        case .resting(.parked): parkedCount -= 1
        case .resting(.queued): lanes[old.heap].forgetOne(site: old.site, in: entries)
        case .resting(.waiting): timers.forgetOne(in: entries)
        case .changing where !old.takesSlot: break
        case .running, .stopping, .changing, .leaving:
            occupied.remove(id)
            runs[id] = nil
            groupCounts[old.group, default: 0] -= 1
            siteCounts[old.site, default: 0] -= 1
            if siteCounts[old.site] == 0 { siteCounts[old.site] = nil }
            if old.state.isRunning { runningCount -= 1 }
        }
    }

    /// The download whose waiting time ends next.
    mutating func nextTimer(in entries: [DownloadID: QueueEntry]) -> StampedHeap<Duration>.Node? {
        timers.first(in: entries)
    }

    /// The startable download with the smallest key.
    mutating func firstReady(in entries: [DownloadID: QueueEntry], _ rules: QueueRules) -> DownloadID? {
        let isFull = rules.sharedCount(groupCounts) >= rules.limit
        return firstPermitted(in: entries, rules) { !isFull || !rules.sharesSlots($0) }
    }

    /// Whether some download waits only for a slot of the list.
    mutating func lacksSlot(in entries: [DownloadID: QueueEntry], _ rules: QueueRules) -> Bool {
        firstPermitted(in: entries, rules) { rules.sharesSlots($0) } != nil
    }

    /// The first download, in the selected sessions, that the network and its session's limit permit.
    private mutating func firstPermitted(
        in entries: [DownloadID: QueueEntry], _ rules: QueueRules, where isMeant: (UInt16) -> Bool
    ) -> DownloadID? {
        let counts = groupCounts
        return first(in: entries) { heap in
            rules.isPermitted(heap: heap) && rules.hasSlot(heap: heap, counts)
                && isMeant(QueueEntry.group(ofHeap: heap))
        }?.place.node.id
    }

    /// The downloads that would start now on another network, at most as many as there are free slots, in queue order.
    mutating func barred(in entries: [DownloadID: QueueEntry], _ rules: QueueRules) -> [DownloadID] {
        let free = rules.limit - rules.sharedCount(groupCounts)
        guard free > 0, lanes.indices.contains(where: { lanes[$0].count > 0 && !rules.isPermitted(heap: $0) }) else {
            return []
        }
        var counts = groupCounts
        var taken: [(heap: Int, place: HostLines.Place)] = []
        while taken.count < free, let next = first(in: entries, where: { rules.hasSlot(heap: $0, counts) }) {
            _ = lanes[next.heap].takeFirst(in: entries)
            counts[QueueEntry.group(ofHeap: next.heap), default: 0] += 1
            taken.append(next)
        }
        for (heap, place) in taken { lanes[heap].putBack(place) }
        return taken.filter { !rules.isPermitted(heap: $0.heap) }.map(\.place.node.id)
    }

    // MARK: Servers

    /// Skips the downloads of a server; `wait` is `nil` if the server is not the reason.
    mutating func shut(_ site: QueuedSites.Number, until time: Duration?, _ wait: HostWait?) {
        for lane in lanes.indices { lanes[lane].shut(site) }
        shut.insert(site, until: time, wait)
    }

    /// Why the downloads of a server wait; `nil` if the server is not the reason.
    func wait(of site: QueuedSites.Number) -> HostWait? { shut[site] }

    /// The queued downloads whose waits for servers have new reasons that must be reported.
    mutating func takeNews(
        at now: Duration, in entries: [DownloadID: QueueEntry], _ sites: QueuedSites
    ) -> Set<DownloadID> {
        var news: Set<DownloadID> = []
        for site in shut.takeNews(at: now, size: sites.count(of:)) {
            for lane in lanes { news.formUnion(lane.downloads(of: site, in: entries)) }
        }
        return news
    }

    /// When ``takeNews(at:in:_:)`` must be called again.
    var nextNews: Duration? { shut.nextNews }

    /// Opens the lines that an event or the time may have opened; with `all`, every line.
    mutating func openLines(at now: Duration, all: Bool, in entries: [DownloadID: QueueEntry]) {
        for site in shut.take(at: now, all: all) { open(site, in: entries) }
    }

    mutating func open(_ site: QueuedSites.Number, in entries: [DownloadID: QueueEntry]) {
        for lane in lanes.indices { lanes[lane].open(site, in: entries) }
    }

    /// When the next line opens.
    mutating func nextOpening() -> Duration? { shut.next() }

    private mutating func first(
        in entries: [DownloadID: QueueEntry], where isMeant: (Int) -> Bool
    ) -> (heap: Int, place: HostLines.Place)? {
        var best: (heap: Int, place: HostLines.Place)?
        for heap in lanes.indices where lanes[heap].count > 0 && isMeant(heap) {
            guard let place = lanes[heap].first(in: entries) else { continue }
            if best.map({ place.node < $0.place.node }) ?? true { best = (heap, place) }
        }
        return best
    }
}

extension QueueEntry {
    /// The index of the entry's heap while it is queued: by session, then by network needs.
    fileprivate var heap: Int { Int(group) * NetworkNeeds.laneCount + Int(lane) }

    fileprivate static func group(ofHeap heap: Int) -> UInt16 { UInt16(heap / NetworkNeeds.laneCount) }
}

/// The limits and network rules of the queue.
struct QueueRules: Sendable {
    /// Maximum number of running downloads, 0 or more.
    var limit: Int
    var network: NetworkSnapshot
    var sessions: SessionGroups
    /// Whether the downloads of one server leave slots free for those of other servers.
    var sharesSlotsByHost = false
    /// Whether downloads from other servers are expected; slots beyond a server's share then stay free for them.
    var expectsOtherHosts = false
    /// Whether downloads wait while their server is down or has requested a delay. If false, they fail with that reason.
    var waitsForServers = true
    /// The networks that downloads without rules of their own may use.
    var permissions = (metered: true, constrained: true)

    /// Whether a network that the download may use is available.
    func permits(_ entry: QueueEntry) -> Bool { obstacle(to: entry) == nil }

    /// Why the network does not permit the download; `nil` if it is permitted.
    func obstacle(to entry: QueueEntry) -> ErrorPhrase.Key? {
        network.status.obstacle(to: NetworkNeeds(lane: Int(entry.lane)))
    }

    func isPermitted(heap: Int) -> Bool { network.status.permits(NetworkNeeds(lane: heap % NetworkNeeds.laneCount)) }

    func hasSlot(heap: Int, _ counts: [UInt16: Int]) -> Bool { hasSlot(QueueEntry.group(ofHeap: heap), counts) }

    /// Whether the downloads of a session take slots of the list.
    func sharesSlots(_ group: UInt16) -> Bool { sessions.settings(of: group).hasOwnSlots != true }

    /// The number of slots, half of all, that the downloads of one server may have while a download of another server waits.
    var share: Int { max(1, limit / 2 + limit % 2) }

    /// The number of runs that take slots of the list.
    func sharedCount(_ counts: [UInt16: Int]) -> Int {
        counts.reduce(into: 0) { sum, entry in if sharesSlots(entry.key) { sum += entry.value } }
    }

    /// Whether a session may have one more run.
    func hasSlot(_ group: UInt16, _ counts: [UInt16: Int]) -> Bool {
        sessions.settings(of: group).maxConcurrentDownloads.map { (counts[group] ?? 0) < $0 } ?? true
    }

    /// Whether any session has more runs than its limit permits.
    func isCrowded(_ counts: [UInt16: Int]) -> Bool {
        counts.contains { group, count in
            sessions.settings(of: group).maxConcurrentDownloads.map { count > max(0, $0) } ?? false
        }
    }

    /// The lane of a download's network needs. Where the download has no rule of its own, both its session and the manager must
    /// permit a network.
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
/// Stale nodes are skipped, and are removed in bulk once they clearly outnumber the valid ones.
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

    /// Records that one node has become stale; `entries` must already reflect this.
    mutating func forgetOne(in entries: [DownloadID: QueueEntry]) {
        count -= 1
        guard nodes.count > 2 * count + 64 else { return }
        nodes = Heap(nodes.unordered.filter { entries[$0.id]?.stamp == $0.stamp })
    }

    /// Removes the first valid node, but still counts it. The caller must return it with ``putBack(_:)`` before any other change.
    mutating func takeFirst(in entries: [DownloadID: QueueEntry]) -> Node? {
        guard let node = first(in: entries) else { return nil }
        nodes.removeMin()
        return node
    }

    mutating func putBack(_ node: Node) { nodes.insert(node) }

    /// The downloads of the valid nodes, in no particular order.
    func downloads(in entries: [DownloadID: QueueEntry]) -> [DownloadID] {
        nodes.unordered.lazy.filter { entries[$0.id]?.stamp == $0.stamp }.map(\.id)
    }

    /// Returns the first valid node.
    mutating func first(in entries: [DownloadID: QueueEntry]) -> Node? {
        while let node = nodes.min {
            if entries[node.id]?.stamp == node.stamp { return node }
            nodes.removeMin()
        }
        return nil
    }
}

/// A listed download in the queue: in exactly one state, under one key.
///
/// ``State/after(_:)`` is the table of docs/queue-states.md.
package struct QueueEntry: Sendable {
    /// A state without a run.
    package enum Rest: Sendable, Hashable {
        /// Paused, ended, or waiting for the user.
        case parked
        /// Waiting for a slot, or for a network.
        case queued
        /// Waiting for this time, and queued when it has come. The time is that of the date, if there is one, and changes with the
        /// wall clock.
        case waiting(until: Duration, for: Due? = nil)
    }

    /// A date for which a download waits.
    package enum Due: Sendable, Hashable {
        /// The start that the user has chosen.
        case start(Date)
        /// The next attempt after a failure. A wall clock that is set back does not delay it.
        case retry(Date)

        /// The time at which the date comes, by the wall clock of now; distant dates are clamped to 1e12 s.
        ///
        /// - Parameter earlier: The time by an earlier wall clock.
        func moment(at now: Duration, wall: Date, earlier: Duration? = nil) -> Duration {
            let (date, latest): (Date, Duration?) =
                switch self {
                case .start(let date): (date, nil)
                case .retry(let date): (date, earlier)
                }
            let moment = now + .seconds(min(max(0, date.timeIntervalSince(wall)), 1e12))
            return latest.map { min($0, moment) } ?? moment
        }
    }

    enum State: Sendable {
        case resting(Rest)
        case running(Run)
        /// The run is ending, and keeps its slot until it has ended.
        case stopping(Run, then: Rest)
        /// Outside the queue while its request, files or row are changed; its run, if any, is ending.
        case changing(Run?, then: Rest)
        /// Removed from the list while its run is ending.
        case leaving(Run)
    }

    /// A fact that changes the state of an entry.
    package enum Fact: Sendable {
        /// Added, resumed, or found when the list is opened; with the state that the download has without a run.
        case list(Rest)
        /// Paused, ended, or to be retried; with the state that the download has without a run.
        case rest(Rest)
        /// The time of a waiting download has come, or the user retries it now.
        case wake
        /// A slot is assigned.
        case start(Run)
        /// The slot or the network is withdrawn.
        case stop
        /// The run has ended.
        case ended
        /// A change begins.
        case hold
        /// The change has ended.
        case settle
        /// Removed from the list.
        case remove
    }

    var state = State.resting(.parked)
    var key: QueueKey
    /// The networks that the download may use.
    var rule = NetworkRule()
    /// The host in ``QueuedHosts``, while the download is not parked.
    var host = QueuedHosts.none
    /// The server in ``QueuedSites``, while the download is not parked.
    var site = QueuedSites.none
    /// The session whose limits apply to the download; 0 for the list's own.
    var group: UInt16 = 0
    /// The lane of the download's network needs.
    var lane: UInt8 = 0
    /// Whether the machine went offline during the run and the host is being resolved; the run continues for a grace period.
    var isInDoubt = false
    /// Whether the wait for a network has been reported.
    var wasReported = false
    /// Whether a change that began during a run has not ended; no other download gets the slot meanwhile.
    var keepsSlot = false
    /// Whether the next run downloads the file even if it exists.
    var fetchesAnew = false
    /// Changes with every change of the entry, and so invalidates its heap nodes and rows that were read earlier.
    var stamp: UInt64 = 0

    /// Whether the entry counts towards the limit.
    var takesSlot: Bool {
        switch state {
        case .resting: false
        case .changing(nil, _): keepsSlot
        case .running, .stopping, .changing, .leaving: true
        }
    }
}

extension QueueEntry.State {
    /// The state after a fact; `nil` if the download is removed. A fact without meaning in a state does not change the state.
    func after(_ fact: QueueEntry.Fact) -> QueueEntry.State? {
        switch (self, fact) {
        case (.resting, .list(let rest)), (.resting, .rest(let rest)): .resting(rest)
        case (.running, .list(.queued)), (.running, .rest(.queued)): self
        case (.running(let run), .list(let rest)), (.running(let run), .rest(let rest)): .stopping(run, then: rest)
        case (.stopping(let run, _), .list(let rest)), (.stopping(let run, _), .rest(let rest)):
            .stopping(run, then: rest)
        case (.changing(let run, _), .list(let rest)), (.changing(let run, _), .rest(let rest)):
            .changing(run, then: rest)
        case (.leaving(let run), .list(let rest)): .stopping(run, then: rest)

        case (.resting(.waiting), .wake): .resting(.queued)
        case (.stopping(let run, then: .waiting), .wake): .stopping(run, then: .queued)
        case (.changing(let run, then: .waiting), .wake): .changing(run, then: .queued)

        case (.resting(.queued), .start(let run)): .running(run)
        case (.running(let run), .stop): .stopping(run, then: .queued)

        case (.running, .ended): .resting(.queued)
        case (.stopping(_, let rest), .ended): .resting(rest)
        case (.changing(_, let rest), .ended): .changing(nil, then: rest)
        case (.leaving, .ended): nil

        case (.resting(let rest), .hold): .changing(nil, then: rest)
        case (.running(let run), .hold): .changing(run, then: .queued)
        case (.stopping(let run, let rest), .hold): .changing(run, then: rest)
        case (.changing(nil, let rest), .settle): .resting(rest)
        case (.changing(let run?, let rest), .settle): .stopping(run, then: rest)

        case (.resting, .remove), (.changing(nil, _), .remove): nil
        case (.running(let run), .remove), (.stopping(let run, _), .remove), (.changing(let run?, _), .remove):
            .leaving(run)

        case (_, .wake), (_, .start), (_, .stop), (_, .hold), (_, .settle), (.resting, .ended), (.leaving, .rest),
            (.leaving, .remove):
            self
        }
    }

    /// The run, which keeps its slot until its end.
    var run: Run? {
        switch self {
        case .running(let run), .stopping(let run, _), .leaving(let run): run
        case .changing(let run, _): run
        case .resting: nil
        }
    }

    /// The state with the time of its date by a changed wall clock; `nil` if it does not wait for a date.
    func following(wall: Date, at now: Duration) -> QueueEntry.State? {
        switch self {
        case .resting(let rest), .stopping(_, let rest), .changing(_, let rest):
            guard case .waiting(let until, let due?) = rest else { return nil }
            return after(.rest(.waiting(until: due.moment(at: now, wall: wall, earlier: until), for: due)))
        case .running, .leaving: return nil
        }
    }

    var isParked: Bool { if case .resting(.parked) = self { true } else { false } }
    var isQueued: Bool { if case .resting(.queued) = self { true } else { false } }
    var isRunning: Bool { if case .running = self { true } else { false } }
    var isChanging: Bool { if case .changing = self { true } else { false } }
    var isLeaving: Bool { if case .leaving = self { true } else { false } }
}
