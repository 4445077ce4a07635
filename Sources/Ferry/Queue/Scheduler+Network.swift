import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// What the network allows, and who must wait for it.
extension Scheduler {
    /// Follows the network from now on; in a manager that keeps nothing, only once something depends on it: a rule that
    /// forbids some, somebody who looks, an attempt that has failed.
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

    /// Looks at the network, unless it is known or none of these rules forbids anything; returns when it is known.
    func lookAtNetwork(for rules: some Sequence<NetworkRule>) async {
        let configuration: DownloadManager.Configuration? = state.withLock { state in
            guard state.phase == .open, !state.knowsNetwork, state.configuration.watchesNetwork else { return nil }
            return state.configuration
        }
        guard let configuration, rules.contains(where: { configuration.forbids(some: $0) }) else { return }
        // Not beside the end: nothing may be watched after that.
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
        // Who may not use it does not try it.
        reschedule()
        for run in moved where run.wish == nil { run.driver?.reconnect() }
        showStandings()
    }

    // MARK: Names

    /// So many are looked up at a time.
    private static let lookupLimit = 64

    /// How long those that run are let run while their names are looked up.
    static let doubtLimit: Duration = .milliseconds(300)

    /// While there is no way to the outside, the hosts of queued downloads are looked up: they may be near. Until that is known
    /// they are far; nobody waits for it.
    func lookUpNames(_ state: inout State) {
        guard state.phase == .open, !state.network.status.isOnline else { return }
        let network = state.networkCount
        while state.lookups.count < Self.lookupLimit, let name = state.hosts.nextUnasked() {
            // owner: state.lookups; cancelled when the network is another one, and in shutdown.
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

    /// Who runs without knowing whether his host is near is stopped after a moment.
    private func limitDoubt(_ state: inout State) {
        guard !state.doubtful.isEmpty, state.doubt == nil, state.phase == .open else { return }
        let network = state.networkCount
        // owner: state.doubt; cancelled when there is a way to the outside, and in shutdown.
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

    /// Ends what looks names up; nothing begins any more.
    func endLookups() async {
        let tasks: [Task<Void, Never>] = state.withLock { state in
            defer { state.lookups = [:] }
            return Array(state.lookups.values) + [state.doubt?.task].compactMap { $0 }
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    // MARK: Rules and standings

    /// The manager's rules have changed: those who follow them need something else now.
    func applyNetworkRules() {
        state.withLock { state in for id in state.policy.ids { state.review(id) } }
    }

    /// What a queued download that does not run waits for; `nil` for others, and for those that wait for their time.
    func standing(of id: DownloadID) -> WaitReason? { state.withLock { $0.standing(of: id) } }

    /// Those that wait show what they wait for now.
    func showStandings() { showStandings(of: registry.all) }

    /// The one place where those that wait in the queue are shown what they wait for: whenever they have come into it, their
    /// run has ended, their time has come, or something is allowed that was not.
    func showStandings(of lives: [LiveDownload]) {
        var lives = lives
        // Those that were changed are looked at again: the queue may have gone on meanwhile.
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
    /// It waits for what the queue decides: its turn, a network, its time.
    var followsQueue: Bool {
        switch self {
        case .waiting(.slot), .waiting(.network), .waiting(.retry), .waiting(.notBefore): true
        case .waiting(.diskSpace), .waiting(.freshLink), .waiting(.credentials): false
        case .downloading, .verifying, .paused, .failed, .completed, .cancelled: false
        }
    }
}

extension DownloadManager.Configuration {
    /// Whether there are networks that a download with this rule may not use.
    fileprivate func forbids(some rule: NetworkRule) -> Bool {
        !(rule.allowsMetered ?? allowsMeteredNetwork) || !(rule.allowsConstrained ?? allowsConstrainedNetwork)
    }
}

extension Scheduler.State {
    /// Puts a download into the queue, at its place.
    mutating func enter(_ id: DownloadID, at spot: QueueSpot) {
        if spot.rule != NetworkRule() { rules[id] = spot.rule }
        hosts.enter(id, spot.host, in: network)
        let group = group(of: spot.session)
        policy.restore(
            id, key: spot.key, needs: needs(spot.rule, isNear: hosts.isNear(id), group: group), until: spot.until,
            group: group)
    }

    /// Where it is in the queue; `nil` when it is not.
    func spot(of id: DownloadID) -> QueueSpot? {
        guard let key = policy.key(of: id) else { return nil }
        var until: Duration?
        if case .blocked(let time) = policy.standing(of: id) { until = time }
        return QueueSpot(
            key, rules[id] ?? NetworkRule(), until: until, host: hosts.host(of: id),
            session: policy.group(of: id).map { groups.name(of: $0) } ?? "")
    }

    /// Takes it out of the queue; what runs keeps its slot until it has ended.
    mutating func leave(_ id: DownloadID) {
        policy.leave(id)
        rules[id] = nil
        hosts.leave(id)
        doubtful.remove(id)
    }

    /// The network is like this now; what is said of one that is known already changes nothing.
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

    /// What a queued download asks of the network now.
    func needs(of id: DownloadID) -> NetworkNeeds {
        needs(
            rules[id] ?? NetworkRule(), isNear: hosts.isNear(id) || doubtful.contains(id),
            group: policy.group(of: id) ?? 0)
    }

    /// Where the rule is silent, what its session allows under what the manager does.
    private func needs(_ rule: NetworkRule, isNear: Bool, group: Int) -> NetworkNeeds {
        let own = groups.settings(of: group)
        return rule.needs(
            isLocal: isNear, allowsMetered: configuration.allowsMeteredNetwork && own.allowsMetered ?? true,
            allowsConstrained: configuration.allowsConstrainedNetwork && own.allowsConstrained ?? true)
    }

    /// The group of a session in the queue; 0 for the list's own.
    mutating func group(of session: String) -> Int {
        session.isEmpty || session == configuration.storage.identifier ? 0 : groups.number(of: session)
    }

    /// What a queued download that does not run waits for.
    func standing(of id: DownloadID) -> WaitReason? {
        guard runs[id] == nil else { return nil }
        switch policy.standing(of: id) {
        case .waitsForNetwork: return .network
        case .waitsForSlot: return .slot
        case .running, .ending, .blocked, nil: return nil
        }
    }

    /// Whether there is no network that it may use.
    func isBarred(_ id: DownloadID) -> Bool { !policy.network.permits(needs(of: id)) }

    /// Those whose turn it would be if the network let them, and of which that was not told since they began to wait. There may
    /// be 100,000 that wait: of those behind them nothing is told.
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

    /// The place behind all others of a priority.
    mutating func takeKey(_ priority: DownloadPriority) -> QueueKey {
        QueueKey(priority: priority.rawValue, position: policy.takePosition())
    }
}
