package import FerryCore

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// The queue: every listed download in one ``QueueEntry``. Downloads run in the order of their keys, at most `limit` at a time,
/// not counting those of sessions with their own slots. Has no side effects.
///
/// - Only ``decide(at:)`` starts downloads and withdraws slots. The next download to run is the one with the smallest key among
///   those that the network and their session's limit permit.
/// - A stop by `decide` and a back-off keep the key. A download with a higher priority gets the next free slot; it does not
///   preempt running downloads.
/// - A download keeps its slot until its run has ended, so that at most `limit` downloads hold connections, files or timers,
///   and no download has two runs.
///
/// The entries are authoritative, and all other tables are indices of them. Time is a `Duration` since a fixed start. Applying a
/// fact takes O(log n); the results do not depend on hash order.
package struct QueueMachine: Sendable {
    private(set) var rules: QueueRules
    private(set) var entries: [DownloadID: QueueEntry] = [:]
    private(set) var hosts = QueuedHosts()
    private(set) var sites = QueuedSites()
    private var index = QueueIndex()
    /// The highest position that was ever assigned.
    private var lastPosition: Int64
    /// Whether the network or some needs have changed, so that running downloads may no longer be permitted.
    private var mustReview = false
    /// Whether the answer of the gate may have changed for any server.
    private var mustAskHosts = false
    /// The stamp of the last change of any entry.
    private(set) var stamp: UInt64 = 0

    /// Creates an empty queue; `session` is the list's own. A negative limit counts as 0.
    package init(
        limit: Int, network: NetworkSnapshot = .assumed, session: String? = nil, lastPosition: Int64 = 0
    ) {
        rules = QueueRules(limit: max(0, limit), network: network, sessions: SessionGroups(own: session ?? ""))
        self.lastPosition = lastPosition
    }

    // MARK: Looking

    /// The entry of a listed download.
    func listed(_ id: DownloadID) -> QueueEntry? { entries[id].flatMap { $0.state.isLeaving ? nil : $0 } }

    func run(of id: DownloadID) -> Run? { entries[id]?.state.run }

    /// The server of a download; `nil` if it has none.
    func site(of id: DownloadID) -> Origin? { entries[id].flatMap { sites.origin(of: $0.site) } }

    var runs: [DownloadID: Run] { index.runs }

    /// Whether a run waits for its next attempt.
    var hasRetries: Bool { index.runs.values.contains { $0.retryAt != nil } }

    /// The number of downloads that are not parked.
    package var activeCount: Int { entries.count - index.parkedCount }

    /// The number of downloads that count towards the limit.
    package var occupiedCount: Int { index.occupied.count }

    /// The given downloads that do not continue automatically.
    func parked(among ids: Set<DownloadID>) -> [DownloadID] { ids.filter { entries[$0]?.state.isParked ?? false } }

    /// Why a queued download is not running.
    package enum Hindrance: Sendable, Hashable {
        /// No slot is free.
        case slot
        /// No network that the download may use is available.
        case network(ErrorPhrase.Key)
        case server(Origin, HostWait)
    }

    /// Why a queued download waits; `nil` if it is not queued. All interfaces report this reason.
    func hindrance(of id: DownloadID) -> Hindrance? {
        guard let entry = entries[id], entry.state.isQueued else { return nil }
        if let obstacle = rules.obstacle(to: entry) { return .network(obstacle) }
        guard let wait = index.wait(of: entry.site), let origin = sites.origin(of: entry.site) else { return .slot }
        return .server(origin, wait)
    }

    /// The queued downloads of a session, or of any session if it is `nil`, that wait for a server that is down or has requested a
    /// delay, and these servers. Takes O(n).
    mutating func waitingForServers(_ session: String?) -> (ids: Set<DownloadID>, origins: Set<Origin>) {
        let group = session.map { rules.sessions.number(of: $0) }
        var (ids, origins): (Set<DownloadID>, Set<Origin>) = ([], [])
        for (id, entry) in entries where entry.state.isQueued && entry.group == group ?? entry.group {
            guard rules.permits(entry), let wait = index.wait(of: entry.site), wait.isOfServer,
                let origin = sites.origin(of: entry.site)
            else { continue }
            ids.insert(id)
            origins.insert(origin)
        }
        return (ids, origins)
    }

    /// The number of queued downloads that use the same slots and get one before this queued download; `nil` if it is not queued.
    /// Takes O(n), so use it for single downloads only.
    func countBefore(_ id: DownloadID) -> Int? {
        guard let entry = entries[id], entry.state.isQueued else { return nil }
        let isShared = rules.sharesSlots(entry.group)
        var count = 0
        for (other, one) in entries where one.state.isQueued && rules.permits(one) {
            guard index.wait(of: one.site) == nil else { continue }
            guard isShared ? rules.sharesSlots(one.group) : one.group == entry.group else { continue }
            if one.key < entry.key || one.key == entry.key && other.rawValue < id.rawValue { count += 1 }
        }
        return count
    }

    /// The number of runs that take slots of the list.
    var slotsTaken: Int { rules.sharedCount(index.groupCounts) }

    /// Whether a network that the download may use is available.
    func mayConnect(_ id: DownloadID) -> Bool { entries[id].map(rules.permits) ?? false }

    /// Why a download waits for a network.
    func obstacle(to id: DownloadID) -> Reason {
        Reason(entries[id].flatMap(rules.obstacle) ?? .noNetworkAllowed)
    }

    // MARK: Facts

    /// Adds a download to the list, or changes the position and conditions of a listed download.
    package mutating func enter(
        _ id: DownloadID, key: QueueKey, rule: NetworkRule = NetworkRule(), host: String? = nil,
        origin: Origin? = nil, session: String = "", as rest: QueueEntry.Rest
    ) {
        note(position: key.position)
        var entry = entries[id] ?? QueueEntry(key: key)
        entry.key = key
        entry.group = rules.sessions.number(of: session)
        entry.isInDoubt = false
        entry.state = entry.state.after(.list(rest)) ?? entry.state
        set(rule, host, origin, of: &entry)
        replace(id, with: entry)
    }

    /// Applies a fact to a listed download.
    package mutating func take(_ fact: QueueEntry.Fact, of id: DownloadID) {
        guard var entry = entries[id] else { return }
        guard let state = entry.state.after(fact) else {
            hosts.leave(entry.host)
            sites.leave(entry.site)
            entries[id] = nil
            stamp += 1
            return index.remove(id, entry, from: entries)
        }
        entry.state = state
        if case .ended = fact, entry.isInDoubt {
            entry.isInDoubt = false
            entry.lane = lane(of: entry)
        }
        replace(id, with: entry)
    }

    /// Begins a change of a download; returns its run, which the caller must stop and await.
    mutating func hold(_ id: DownloadID) -> Run? {
        if entries[id]?.state.isRunning == true { entries[id]?.keepsSlot = true }
        take(.hold, of: id)
        return run(of: id)
    }

    /// Makes the next run of the download ignore an existing file.
    mutating func fetchAnew(_ id: DownloadID) { entries[id]?.fetchesAnew = true }

    /// Returns whether the run must ignore an existing file; true only once.
    mutating func takeFetchAnew(_ id: DownloadID) -> Bool {
        defer { entries[id]?.fetchesAnew = false }
        return entries[id]?.fetchesAnew ?? false
    }

    // MARK: Keys

    /// Changes the key of a listed download.
    mutating func set(key: QueueKey, of id: DownloadID) {
        note(position: key.position)
        guard var entry = entries[id], entry.key != key else { return }
        entry.key = key
        replace(id, with: entry)
    }

    /// Records a position as assigned.
    mutating func note(position: Int64) { lastPosition = max(lastPosition, position) }

    /// A key after all others of a priority.
    package mutating func takeKey(_ priority: DownloadPriority) -> QueueKey {
        let (next, overflow) = lastPosition.addingReportingOverflow(PlacementPlanner.spacing)
        lastPosition = overflow ? .max : next
        return QueueKey(priority: priority.rawValue, position: lastPosition)
    }

    /// The listed downloads of a priority, ascending by key.
    func places(of priority: Int) -> [QueuePlace] {
        entries.lazy.filter { $1.key.priority == priority && !$1.state.isLeaving }
            .map { QueuePlace(id: $0, key: $1.key) }
            .sorted { ($0.key, $0.id.rawValue) < ($1.key, $1.id.rawValue) }
    }

    // MARK: Limits and networks

    /// Changes the limit of running downloads; a negative limit counts as 0.
    mutating func set(limit: Int) { rules.limit = max(0, limit) }

    /// The number of a session; `nil` for the list's own.
    mutating func number(of session: String) -> UInt16? {
        let number = rules.sessions.number(of: session)
        return number > 0 ? number : nil
    }

    /// Changes the limits of a session, which apply within the limits of the list.
    mutating func set(_ settings: SessionSettings, of session: String) {
        rules.sessions.set(settings, of: session)
        review { _ in true }
    }

    /// Sets whether the downloads of one server leave slots free for those of other servers.
    mutating func set(sharesSlotsByHost: Bool) { rules.sharesSlotsByHost = sharesSlotsByHost }

    /// Sets whether slots beyond a server's share stay free for expected downloads from other servers.
    mutating func set(expectsOtherHosts: Bool) { rules.expectsOtherHosts = expectsOtherHosts }

    /// Sets whether downloads wait while their server is down or has requested a delay. If false, they fail with that reason.
    mutating func set(waitsForServers: Bool) { rules.waitsForServers = waitsForServers }

    mutating func set(allowsMetered: Bool, allowsConstrained: Bool) {
        rules.permissions = (allowsMetered, allowsConstrained)
        review { _ in true }
    }

    /// Changes the network rule, the host and the server of a download that is not parked.
    mutating func set(_ rule: NetworkRule, host: String?, origin: Origin? = nil, of id: DownloadID) {
        guard var entry = entries[id], !entry.state.isParked else { return }
        set(rule, host, origin, of: &entry)
        replace(id, with: entry)
    }

    private mutating func set(
        _ rule: NetworkRule, _ host: String?, _ origin: Origin?, of entry: inout QueueEntry
    ) {
        let site = sites.enter(origin)
        sites.leave(entry.site)
        entry.site = site
        entry.rule = rule
        let old = entry.host
        entry.host = hosts.enter(host, in: rules.network)
        hosts.leave(old)
        entry.lane = lane(of: entry)
        // Without a run there is nothing to review.
        if case .resting = entry.state { return }
        mustReview = true
    }

    /// Applies a new network. When there is no route to other networks, running downloads whose hosts may be local are in
    /// doubt.
    mutating func see(_ snapshot: NetworkSnapshot) {
        let goesOffline = rules.network.status.isOnline && !snapshot.status.isOnline
        rules.network = snapshot
        mustReview = true
        let changed = hosts.judge(by: snapshot)
        hosts.hasten(Set(index.occupied.compactMap { entries[$0]?.host }))
        for id in index.occupied {
            guard let entry = entries[id] else { continue }
            if snapshot.status.isOnline { entries[id]?.isInDoubt = false }
            if goesOffline, hosts.isUnsure(entry.host) { entries[id]?.isInDoubt = true }
            review(id)
        }
        if !changed.isEmpty { review { changed.contains($0.host) } }
        forgetReports()
    }

    /// Whether a run is in doubt.
    var hasDoubt: Bool { index.occupied.contains { entries[$0]?.isInDoubt ?? false } }

    /// Ends the doubt about the runs of one host, or of all hosts if it is `nil`. Returns false if there was no doubt.
    @discardableResult
    mutating func endDoubt(about host: QueuedHosts.Number?) -> Bool {
        let doubtful = index.occupied.filter { id in
            entries[id].map { $0.isInDoubt && (host == nil || $0.host == host) } ?? false
        }
        for id in doubtful {
            entries[id]?.isInDoubt = false
            review(id)
        }
        return !doubtful.isEmpty
    }

    /// The next host name to resolve while there is no route to other networks.
    mutating func nextName() -> String? { rules.network.status.isOnline ? nil : hosts.nextUnasked() }

    /// Whether there may be a name to resolve.
    var hasNames: Bool { !rules.network.status.isOnline && hosts.hasUnasked }

    /// Stores whether a resolved name is local. Returns false if nothing changed.
    mutating func settle(_ name: String, isNear: Bool) -> Bool {
        guard let host = hosts.number(of: name) else { return false }
        let hasChanged = hosts.settle(host, isNear: isNear)
        let wasDoubted = endDoubt(about: host)
        if hasChanged { review { $0.host == host } }
        return hasChanged || wasDoubted
    }

    private func lane(of entry: QueueEntry) -> UInt8 {
        rules.lane(of: entry, isLocal: entry.isInDoubt || hosts.isNear(entry.host))
    }

    private mutating func review(where isMeant: (QueueEntry) -> Bool) {
        let changed = entries.filter { !$1.state.isParked && isMeant($1) && lane(of: $1) != $1.lane }
        for id in changed.keys { review(id) }
    }

    private mutating func review(_ id: DownloadID) {
        guard var entry = entries[id] else { return }
        let lane = lane(of: entry)
        guard lane != entry.lane else { return }
        entry.lane = lane
        mustReview = true
        replace(id, with: entry)
    }

    // MARK: Indices

    private mutating func replace(_ id: DownloadID, with new: QueueEntry) {
        stamp += 1
        var entry = new
        entry.stamp = stamp
        if case .changing(_, then: .queued) = entry.state {} else { entry.keepsSlot = false }
        switch entry.state {
        case .resting(.parked), .leaving:
            hosts.leave(entry.host)
            sites.leave(entry.site)
            (entry.host, entry.site) = (QueuedHosts.none, QueuedSites.none)
            entry.wasReported = false
        case .resting(.queued): if rules.permits(entry) { entry.wasReported = false }
        case .resting(.waiting), .running: entry.wasReported = false
        case .stopping, .changing: break
        }
        let old = entries.updateValue(entry, forKey: id)
        if let old { index.remove(id, old, from: entries) }
        index.insert(id, entry)
    }
}

// MARK: - Decisions

extension QueueMachine {
    /// Why a running download must stop.
    package enum StopReason: Sendable, Hashable {
        /// More downloads are running than the limit permits, and the key of this download is among the last.
        case slot
        /// The network is unavailable, or the download's needs do not permit it.
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
        /// Why certain downloads in ``start`` end at once without an attempt.
        package var refused: [DownloadID: HostRefusal] = [:]
        /// The downloads whose runs must stop and keep their partial content, in queue order.
        package var stop: [Stop] = []
        /// The queued downloads whose servers make them wait for a reason other than the reported one.
        package var told: Set<DownloadID> = []
        /// When to call `decide` again if no event occurs earlier; `nil` for never.
        package var nextWake: Duration?
    }

    /// A server that receives no requests, and the reason.
    package struct HostRefusal: Sendable, Hashable {
        package enum Reason: Sendable, Hashable {
            /// No further attempts are made on the server, because this number of attempts has failed.
            case givenUp(HostHealth.Cause, attempts: Int)
            /// The server is down or has requested a delay, and the list does not wait for servers.
            case absent(HostWait)
        }

        package var origin: Origin
        package var reason: Reason
    }

    /// Decides which downloads start and stop now. A second call without an event in between returns no further changes.
    ///
    /// - Parameter hosts: Decides which servers' downloads may start.
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

    /// Assigns the free slots in the order of the keys. Skips servers whose downloads must wait, and servers that already have
    /// their share of the slots while downloads of other servers with the same priority wait.
    private mutating func start(_ decision: inout Decision, at now: Duration, _ hosts: some HostGate) {
        index.openLines(at: now, all: mustAskHosts, in: entries)
        mustAskHosts = false
        var modest: (sites: [QueuedSites.Number], priority: Int) = ([], .min)
        var isSharing = rules.sharesSlotsByHost
        while true {
            let first = index.firstReady(in: entries, rules)
            guard let next = first, let entry = entries[next], entry.key.priority >= modest.priority else {
                if modest.sites.isEmpty || first == nil && rules.expectsOtherHosts { return }
                // No other host is waiting, so these servers get the remaining slots.
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

    /// Makes the next ``decide(at:hosts:)`` query the gate about all servers.
    package mutating func hostsChanged() { mustAskHosts = true }

    /// Queues the downloads whose waiting time is over; ``decide(at:)`` does this too.
    @discardableResult
    mutating func wake(at now: Duration) -> [DownloadID] {
        var woken: [DownloadID] = []
        while let first = index.nextTimer(in: entries), first.order <= now {
            take(.wake, of: first.id)
            woken.append(first.id)
        }
        return woken
    }

    /// Adjusts the times of downloads that wait for a date to a wall clock that was set.
    package mutating func follow(wall: Date, at now: Duration) {
        for (id, entry) in entries {
            guard let state = entry.state.following(wall: wall, at: now) else { continue }
            var entry = entry
            entry.state = state
            replace(id, with: entry)
        }
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

    /// The runs whose slot is the only thing that another download waits for.
    mutating func contestedRuns() -> [Run] {
        guard index.lacksSlot(in: entries, rules) else { return [] }
        return index.occupied.compactMap { id in
            entries[id].flatMap { rules.sharesSlots($0.group) ? $0.state.run : nil }
        }
    }

    /// Downloads that only their network rule prevents from starting at the next ``decide(at:)``, and for which this has not
    /// been reported yet; at most as many as there are free slots, in queue order.
    mutating func newlyBarred() -> [DownloadID] { index.barred(in: entries, rules).filter { report($0) } }

    /// Marks the wait of a download for a network as reported. Returns false if it already was.
    @discardableResult
    mutating func report(_ id: DownloadID) -> Bool {
        guard entries[id]?.wasReported == false else { return false }
        entries[id]?.wasReported = true
        index.reportedCount += 1
        return true
    }

    /// Resets the marks of reported waits that have ended on the current network.
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
