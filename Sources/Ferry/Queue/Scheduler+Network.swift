import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// Network permissions, and the downloads that wait for them.
extension Scheduler {
    /// Watches the network from now on. An `.ephemeral` manager calls this only once something depends on it: a
    /// restrictive rule, a reader of the status, a failed attempt.
    func watchNetwork() {
        state.withLock { state in
            guard state.watcher == nil, state.phase == .open, state.configuration.watchesNetwork else { return }
            // owner: state.watcher, cancelled in shutdown.
            state.watcher = Task { [weak self, monitor] in
                guard !Task.isCancelled else { return }
                await monitor.start()
                for await snapshot in monitor.changes() {
                    guard let self else { return }
                    self.networkChanged(snapshot)
                }
            }
        }
    }

    /// Checks the network, unless it is known or none of these rules restricts anything; returns once it is known.
    func lookAtNetwork(for rules: some Sequence<NetworkRule>) async {
        let configuration: DownloadManager.Configuration? = state.withLock { state in
            guard state.phase == .open, !state.knowsNetwork, state.configuration.watchesNetwork else { return nil }
            return state.configuration
        }
        guard let configuration, rules.contains(where: { configuration.forbids(some: $0) }) else { return }
        // Not concurrently with shutdown, after which no watch may start.
        await openLock.acquire()
        defer { openLock.release() }
        guard state.withLock({ $0.phase == .open && !$0.knowsNetwork }) else { return }
        await monitor.start()
        networkChanged(monitor.current)
        watchNetwork()
    }

    func networkChanged(_ snapshot: NetworkSnapshot) {
        let moved: [Run] = state.withLock { state in
            let hasMoved = state.network.generation != snapshot.generation
            state.see(snapshot)
            limitDoubt(&state)
            guard hasMoved, snapshot.status.isOnline else { return [] }
            return state.runs.compactMap { id, run in state.hosts.isNear(id) ? nil : run }
        }
        if moved.contains(where: { $0.driver != nil }) { engine.environment(for: configuration).renewConnections() }
        networkHub.send(snapshot.status)
        // Reschedule before reconnecting, so that downloads that may not use the network do not try it.
        reschedule()
        for run in moved where run.wish == nil { run.driver?.reconnect() }
        showStandings()
    }

    // MARK: Lookups

    /// Maximum number of concurrent lookups.
    private static let lookupLimit = 64

    /// How long running downloads continue while their hosts are being resolved.
    static let doubtLimit: Duration = .milliseconds(300)

    /// Resolves the hosts of queued downloads while offline, since they may be local. Until then they count as
    /// remote; nothing waits for the result.
    func lookUpNames(_ state: inout State) {
        guard state.phase == .open, !state.network.status.isOnline else { return }
        let network = state.networkCount
        while state.lookups.count < Self.lookupLimit, let name = state.hosts.nextUnasked() {
            // owner: state.lookups; cancelled when the network changes, and in shutdown.
            state.lookups[name] = Task { [weak self, monitor] in
                let isNear = await monitor.isLocal(name)
                guard !Task.isCancelled else { return }
                self?.found(name, isNear, in: network)
            }
        }
    }

    private func found(_ name: String, _ isNear: Bool, in network: Int) {
        let isNews = state.withLock { state in
            guard state.networkCount == network else { return false }
            state.lookups[name] = nil
            let doubtful = state.doubtful.filter { state.hosts.host(of: $0) == name }
            state.doubtful.subtract(doubtful)
            let changed = doubtful.union(state.hosts.settle(name, isNear: isNear))
            for id in changed { state.review(id) }
            return !changed.isEmpty
        }
        reschedule()
        if isNews { showStandings() }
    }

    /// Downloads whose host has not been resolved within the grace period are paused: we cannot tell whether it is on
    /// the local network.
    private func limitDoubt(_ state: inout State) {
        guard !state.doubtful.isEmpty, state.doubt == nil, state.phase == .open else { return }
        let network = state.networkCount
        // owner: state.doubt; cancelled when the machine is online again, and in shutdown.
        let task = Task { [weak self, clock] in
            try? await clock.sleep(for: Self.doubtLimit)
            guard !Task.isCancelled else { return }
            self?.endDoubt(of: network)
        }
        state.doubt = (network, task)
    }

    private func endDoubt(of network: Int) {
        state.withLock { state in
            guard state.doubt?.network == network else { return }
            state.doubt = nil
            let doubtful = state.doubtful
            state.doubtful = []
            for id in doubtful { state.review(id) }
        }
        reschedule()
    }

    /// Ends all lookups; called at shutdown, after which none begins.
    func endLookups() async {
        let tasks: [Task<Void, Never>] = state.withLock { state in
            defer { state.lookups = [:] }
            return Array(state.lookups.values) + [state.doubt?.task].compactMap { $0 }
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    // MARK: Rules and wait reasons

    /// Reviews all queued downloads after a change of the manager's rules.
    func applyNetworkRules() {
        state.withLock { state in for id in state.policy.ids { state.review(id) } }
    }

    /// The reason why a queued download waits; `nil` if it is running, not queued, or waits for a time.
    func standing(of id: DownloadID) -> WaitReason? { state.withLock { $0.standing(of: id) } }

    /// Updates the shown reason of all waiting downloads.
    func showStandings() { showStandings(of: registry.all) }

    /// Updates the shown reason of queued downloads. The one place that does so: after queueing, after a run, when a
    /// wait is over, and when permissions change.
    func showStandings(of lives: [LiveDownload]) {
        var lives = lives
        // Check the updated downloads again, since the queue may have changed meanwhile.
        while !lives.isEmpty {
            let stale: [(live: LiveDownload, old: DownloadState, new: WaitReason)] = state.withLock { state in
                guard state.phase == .open else { return [] }
                return lives.compactMap { live in
                    let old = live.current
                    guard old.followsQueue, let new = state.standing(of: live.id), old != .waiting(new) else {
                        return nil
                    }
                    return (live: live, old: old, new: new)
                }
            }
            for (live, old, new) in stale {
                if live.wait(for: new, insteadOf: old) { told(live.id) }
            }
            lives = stale.map(\.live)
        }
    }
}

extension DownloadState {
    /// Whether the queue decides when the wait ends: slot, network, time.
    var followsQueue: Bool {
        switch self {
        case .waiting(.slot), .waiting(.network), .waiting(.retry), .waiting(.notBefore): true
        case .waiting(.diskSpace), .waiting(.freshLink), .waiting(.credentials): false
        case .downloading, .verifying, .paused, .failed, .completed, .cancelled: false
        }
    }
}

extension DownloadManager.Configuration {
    /// Whether a download with this rule may not use some network.
    fileprivate func forbids(some rule: NetworkRule) -> Bool {
        !(rule.allowsMetered ?? allowsMeteredNetwork) || !(rule.allowsConstrained ?? allowsConstrainedNetwork)
    }
}

extension Scheduler.State {
    /// Queues a download at a spot.
    mutating func enter(_ id: DownloadID, at spot: QueueSpot) {
        if spot.rule != NetworkRule() { rules[id] = spot.rule }
        hosts.enter(id, spot.host, in: network)
        let group = group(of: spot.session)
        policy.restore(
            id, key: spot.key, needs: needs(spot.rule, isNear: hosts.isNear(id), group: group), until: spot.until,
            group: group)
    }

    /// The spot of a download in the queue; `nil` if it is not queued.
    func spot(of id: DownloadID) -> QueueSpot? {
        guard let key = policy.key(of: id) else { return nil }
        var until: Duration?
        if case .blocked(let time) = policy.standing(of: id) { until = time }
        return QueueSpot(
            key, rules[id] ?? NetworkRule(), until: until, host: hosts.host(of: id),
            session: policy.group(of: id).map { groups.name(of: $0) } ?? "")
    }

    /// Removes a download from the queue; a running one keeps its slot until its run has ended.
    mutating func leave(_ id: DownloadID) {
        policy.leave(id)
        rules[id] = nil
        hosts.leave(id)
        doubtful.remove(id)
    }

    /// Applies a new network snapshot; one equal to the current snapshot has no effect.
    mutating func see(_ snapshot: NetworkSnapshot) {
        guard !knowsNetwork || snapshot != network else { return }
        let wasOnline = network.status.isOnline
        network = snapshot
        networkCount += 1
        policy.set(network: snapshot.status)
        for lookup in lookups.values { lookup.cancel() }
        lookups = [:]
        var changed = doubtful.union(hosts.judge(by: snapshot))
        if snapshot.status.isOnline {
            doubtful = []
            doubt?.task.cancel()
            doubt = nil
        } else if wasOnline {
            doubtful = Set(runs.keys.filter { hosts.isUnsure($0) })
            changed.formUnion(doubtful)
        }
        hosts.hasten(runs.keys)
        for id in changed { review(id) }
    }

    /// The current network needs of a queued download.
    func needs(of id: DownloadID) -> NetworkNeeds {
        needs(
            rules[id] ?? NetworkRule(), isNear: hosts.isNear(id) || doubtful.contains(id),
            group: policy.group(of: id) ?? 0)
    }

    /// The rule, with the session's and the manager's permissions where it does not specify one.
    private func needs(_ rule: NetworkRule, isNear: Bool, group: Int) -> NetworkNeeds {
        let own = groups.settings(of: group)
        return rule.needs(
            isLocal: isNear, allowsMetered: configuration.allowsMeteredNetwork && own.allowsMetered ?? true,
            allowsConstrained: configuration.allowsConstrainedNetwork && own.allowsConstrained ?? true)
    }

    /// The queue group of a session; 0 for the list's own.
    mutating func group(of session: String) -> Int {
        session.isEmpty || session == configuration.storage.identifier ? 0 : groups.number(of: session)
    }

    /// The reason why a queued download waits; `nil` if it is running or waits for a time.
    func standing(of id: DownloadID) -> WaitReason? {
        guard runs[id] == nil else { return nil }
        switch policy.standing(of: id) {
        case .waitsForNetwork: return .network
        case .waitsForSlot: return .slot
        case .running, .ending, .blocked, nil: return nil
        }
    }

    /// Whether no permitted network is available.
    func isBarred(_ id: DownloadID) -> Bool { !policy.network.permits(needs(of: id)) }

    /// Downloads blocked only by their network rule for which that has not been reported yet. Only as many as there
    /// are slots, since 100,000 may wait.
    mutating func newlyBarred() -> [DownloadID] {
        let barred = policy.passedOver()
        if barred.isEmpty, toldToWait.isEmpty { return [] }
        toldToWait = toldToWait.filter { id in
            switch policy.standing(of: id) {
            case .waitsForNetwork, .ending: true
            case .waitsForSlot, .running, .blocked, nil: false
            }
        }
        return barred.filter { toldToWait.insert($0).inserted }
    }

    mutating func review(_ id: DownloadID) { policy.setNeeds(needs(of: id), of: id) }

    /// A key behind all others of a priority.
    mutating func takeKey(_ priority: DownloadPriority) -> QueueKey {
        QueueKey(priority: priority.rawValue, position: policy.takePosition())
    }
}
