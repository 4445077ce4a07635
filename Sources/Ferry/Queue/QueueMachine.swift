package import FerryCore

/// The queue: every listed download in one ``QueueEntry``; at most `limit` run, not counting those of sessions with slots
/// of their own, in the order of their keys. Pure.
///
/// - Only ``decide(at:)`` starts downloads, and withdraws slots. The next to run is the one with the smallest key among
///   those that the network and their session's limit permit.
/// - A stop by `decide` and a back-off keep the key. A download of a higher priority takes the next free slot; it does
///   not preempt running ones.
/// - A download keeps its slot until its run has ended, so that never more than `limit` downloads hold connections,
///   files or timers, and no download has two runs.
///
/// The entries are authoritative, and all other tables are indices of them. Time is a `Duration` since a fixed start.
/// Each fact costs O(log n); the results do not depend on hash order.
package struct QueueMachine: Sendable {
    private(set) var rules: QueueRules
    var entries: [DownloadID: QueueEntry] = [:]
    private(set) var hosts = QueuedHosts()
    private(set) var sites = QueuedSites()
    var index = QueueIndex()
    /// The last position that was ever assigned.
    private var lastPosition: Int64
    /// The network or some needs have changed, so running downloads may no longer be permitted.
    var mustReview = false
    /// What the gate answers may have changed for any server.
    var mustAskHosts = false
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

    /// The number of downloads that count for the limit.
    package var occupiedCount: Int { index.occupied.count }

    /// Those of the downloads that do not go on by themselves.
    func parked(among ids: Set<DownloadID>) -> [DownloadID] { ids.filter { entries[$0]?.state.isParked ?? false } }

    /// Why a queued download does not run now.
    package enum Hindrance: Sendable, Hashable {
        /// The slots are taken.
        case slot
        /// No network that it may use is available.
        case network(ErrorPhrase.Key)
        case server(Origin, HostWait)
    }

    /// Why a queued download waits; `nil` if it is not queued. The one answer for every face.
    func hindrance(of id: DownloadID) -> Hindrance? {
        guard let entry = entries[id], entry.state.isQueued else { return nil }
        if let obstacle = rules.obstacle(to: entry) { return .network(obstacle) }
        guard let wait = index.wait(of: entry.site), let origin = sites.origin(of: entry.site) else { return .slot }
        return .server(origin, wait)
    }

    /// How many queued downloads of the same slots get one before a queued download; `nil` if it is not queued. Costs O(n):
    /// for a download that is looked at alone.
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

    /// Lists a download, or changes the position and conditions of a listed one.
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

    /// Begins a change of a download; returns its run, to be stopped and awaited.
    mutating func hold(_ id: DownloadID) -> Run? {
        if entries[id]?.state.isRunning == true { entries[id]?.keepsSlot = true }
        take(.hold, of: id)
        return run(of: id)
    }

    /// The next run of the download ignores a file that exists.
    mutating func fetchAnew(_ id: DownloadID) { entries[id]?.fetchesAnew = true }

    /// Returns, once, whether the run is to ignore a file that exists.
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

    /// A key behind all others of a priority.
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

    /// Changes the limit of all downloads; a negative one counts as 0.
    mutating func set(limit: Int) { rules.limit = max(0, limit) }

    /// The number of a session; `nil` for the list's own.
    mutating func number(of session: String) -> UInt16? {
        let number = rules.sessions.number(of: session)
        return number > 0 ? number : nil
    }

    /// Changes the limits of a session, within those of all.
    mutating func set(_ settings: SessionSettings, of session: String) {
        rules.sessions.set(settings, of: session)
        review { _ in true }
    }

    /// Whether the downloads of one server leave slots to those of others.
    mutating func set(sharesSlotsByHost: Bool) { rules.sharesSlotsByHost = sharesSlotsByHost }

    /// Whether slots beyond a server's share stay free for downloads of others that are expected.
    mutating func set(expectsOtherHosts: Bool) { rules.expectsOtherHosts = expectsOtherHosts }

    /// Whether downloads wait while their server is down or has asked to wait, or end with that reason.
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
        mustReview = true
    }

    /// Applies a new network. Running downloads whose hosts may turn out to be local are in doubt once there is no way
    /// to others.
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

    /// Ends the doubt about the runs of one host, or with `nil` of all. Returns false if there was none.
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

    /// The next host name to resolve while there is no way to other networks.
    mutating func nextName() -> String? { rules.network.status.isOnline ? nil : hosts.nextUnasked() }

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
