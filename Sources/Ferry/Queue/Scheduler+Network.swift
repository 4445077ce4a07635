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
                await monitor.start()
                for await snapshot in monitor.changes() {
                    guard let self else { return }
                    await self.networkChanged(snapshot)
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
        await openTurn.take()
        defer { openTurn.give() }
        guard state.withLock({ $0.phase == .open && !$0.knowsNetwork }) else { return }
        await monitor.start()
        await networkChanged(monitor.current)
        watchNetwork()
    }

    /// Whether a host is this machine or directly attached; names are asked only while there is no way out.
    func isNear(_ host: String?) async -> Bool {
        guard let host else { return false }
        let (network, watches) = state.withLock { ($0.network, $0.configuration.watchesNetwork) }
        if network.isLocal(host) { return true }
        guard watches, !network.status.isOnline else { return false }
        return await monitor.isLocal(host)
    }

    func networkChanged(_ snapshot: NetworkSnapshot) async {
        // Names are asked while the old network still counts: who runs and turns out to be near is left alone.
        var near: [DownloadID] = []
        if !snapshot.status.isOnline {
            let running = state.withLock { state in state.runs.keys.compactMap { registry[$0] } }
            for live in running {
                guard let host = live.request.sources.first?.host else { continue }
                if snapshot.isLocal(host) { continue }
                if await monitor.isLocal(host) { near.append(live.id) }
            }
        }
        let reconnecting: [DownloadDriver] = state.withLock { state in
            let hasMoved = state.network.generation != snapshot.generation
            state.network = snapshot
            state.knowsNetwork = true
            for (id, host) in state.addresses { state.set(isNear: snapshot.isLocal(host), of: id) }
            for id in near { state.set(isNear: true, of: id) }
            state.policy.set(network: snapshot.status)
            guard hasMoved, snapshot.status.isOnline else { return [] }
            return state.runs.compactMap { id, run in state.near.contains(id) ? nil : run.driver }
        }
        if !reconnecting.isEmpty { engine.environment(for: configuration).renewConnections() }
        for driver in reconnecting { driver.reconnect() }
        networkHub.send(snapshot.status)
        turnOver()
        showStandings()
    }

    /// The manager's rules have changed: those who follow them need something else now.
    func applyNetworkRules() {
        state.withLock { state in for id in state.policy.ids { state.review(id) } }
    }

    /// What a queued download that does not run waits for; `nil` for others, and for those that wait for their time.
    func standing(of id: DownloadID) -> WaitReason? { state.withLock { $0.standing(of: id) } }

    /// Those that wait show what they wait for now.
    func showStandings() {
        let changed: [(LiveDownload, WaitReason)] = state.withLock { state in
            registry.all.compactMap { live in
                guard let reason = state.standing(of: live.id),
                    live.current == .waiting(.slot) || live.current == .waiting(.network),
                    live.current != .waiting(reason)
                else { return nil }
                return (live, reason)
            }
        }
        for (live, reason) in changed {
            live.set(state: .waiting(reason))
            told(live.id)
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
        if spot.isNear { near.insert(id) }
        if let host = spot.host, NetworkAddress(host) != nil { addresses[id] = host }
        let group = group(of: spot.session)
        policy.restore(
            id, key: spot.key, needs: needs(spot.rule, isNear: spot.isNear, group: group), until: spot.until,
            group: group)
    }

    /// Where it is in the queue; `nil` when it is not.
    func spot(of id: DownloadID) -> QueueSpot? {
        guard let key = policy.key(of: id) else { return nil }
        var until: Duration?
        if case .blocked(let time) = policy.standing(of: id) { until = time }
        return QueueSpot(
            key, rules[id] ?? NetworkRule(), isNear: near.contains(id), until: until, host: addresses[id],
            session: policy.group(of: id).map { groups.name(of: $0) } ?? "")
    }

    /// Takes it out of the queue; what runs keeps its slot until it has ended.
    mutating func leave(_ id: DownloadID) {
        policy.leave(id)
        rules[id] = nil
        addresses[id] = nil
        near.remove(id)
    }

    mutating func set(isNear: Bool, of id: DownloadID) {
        guard isNear != near.contains(id) else { return }
        if isNear { near.insert(id) } else { near.remove(id) }
        review(id)
    }

    /// What a queued download asks of the network now.
    func needs(of id: DownloadID) -> NetworkNeeds {
        needs(rules[id] ?? NetworkRule(), isNear: near.contains(id), group: policy.group(of: id) ?? 0)
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

    mutating func review(_ id: DownloadID) { policy.setNeeds(needs(of: id), of: id) }

    /// The place behind all others of a priority.
    mutating func takeKey(_ priority: DownloadPriority) -> QueueKey {
        QueueKey(priority: priority.rawValue, position: policy.takePosition())
    }
}
