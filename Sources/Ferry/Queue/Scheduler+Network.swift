import FerryCore
import FerryEngine

/// Network permissions, and the downloads that wait for them.
extension Scheduler {
    /// Starts monitoring the network. An `.ephemeral` manager calls this only when something depends on it: a restrictive rule,
    /// a reader of the status, or a failed attempt.
    func watchNetwork() {
        guard !networkTasks.isWatching, queue.isOpen, watchesNetwork else { return }
        networkTasks.watch { [weak self, monitor] in
            guard !Task.isCancelled else { return }
            await monitor.start()
            for await snapshot in monitor.changes() {
                guard let self else { return }
                self.networkChanged(snapshot)
            }
        }
    }

    /// Checks the network, unless it is known or none of these rules restricts anything; returns once it is known.
    func lookAtNetwork(for rules: some Sequence<NetworkRule>) async {
        guard queue.assumesNetwork, watchesNetwork else { return }
        let configuration = configuration
        guard rules.contains(where: { configuration.forbids(some: $0) }) else { return }
        // The lock excludes a concurrent shutdown, after which monitoring must not begin.
        await openLock.acquire()
        defer { openLock.release() }
        guard queue.assumesNetwork else { return }
        await monitor.start()
        networkChanged(monitor.current)
        watchNetwork()
    }

    func networkChanged(_ snapshot: NetworkSnapshot) {
        // Knowledge about servers and names from the other network is not valid on this one.
        let moved = see(snapshot) { engine.networkChanged() }.moved
        if moved?.contains(where: { $0.driver != nil }) == true { environment.renewConnections() }
        networkHub.send(snapshot.status)
        // Reschedule before reconnecting, so that downloads that may not use the network do not try to.
        reschedule()
        for run in moved ?? [] where run.wish == nil { run.driver?.reconnect() }
        showStandings()
        if moved != nil { retryPages() }
    }

    /// Applies a new snapshot to the queue with ``DownloadQueue/see(_:moved:)``, and cancels the lookups of earlier networks.
    @discardableResult
    func see(_ snapshot: NetworkSnapshot, moved: () -> Void = {}) -> DownloadQueue.NetworkChange {
        let change = queue.see(snapshot, moved: moved)
        networkTasks.follow(change.network, isOnline: change.isOnline)
        if let doubt = change.doubt { limitDoubt(of: doubt) }
        return change
    }

    // MARK: Lookups

    /// How long running downloads continue while their hosts are being resolved.
    static let doubtLimit: Duration = .milliseconds(300)

    /// Resolves the hosts of queued downloads while offline, because they may be local. Until the result is known, they count
    /// as remote; no code waits for the result.
    func lookUpNames() {
        networkTasks.lookUp(queue.nextName) { [weak self, monitor] name, network in
            let isNear = await monitor.isLocal(name)
            guard !Task.isCancelled else { return }
            self?.found(name, isNear, in: network)
        }
    }

    private func found(_ name: String, _ isNear: Bool, in network: Int) {
        networkTasks.lookedUp(name, in: network)
        let isNews = queue.found(name, isNear: isNear, in: network)
        reschedule()
        if isNews { showStandings() }
    }

    /// Stops downloads whose host has not been resolved within the grace period, because the host may not be on the local
    /// network.
    private func limitDoubt(of network: Int) {
        networkTasks.limitDoubt { [weak self, clock] in
            try? await clock.sleep(for: Self.doubtLimit)
            guard !Task.isCancelled, let self else { return }
            self.queue.endDoubt(of: network)
            self.reschedule()
        }
    }

    // MARK: Wait reasons

    /// Updates the shown reason of all waiting downloads.
    func showStandings() { showStandings(of: registry.all) }

    /// Updates the shown reason of queued downloads. Only this method does so: after queueing, after a run, when a wait has
    /// ended, and when permissions change.
    func showStandings(of lives: [LiveDownload]) {
        var lives = lives
        // Check the updated downloads again, because the queue may have changed meanwhile.
        while !lives.isEmpty {
            let stale = queue.unshown(lives)
            for (live, old, new) in stale {
                if live.wait(for: new, insteadOf: old) { told(live.id) }
            }
            lives = stale.map(\.live)
        }
    }
}

/// Downloads that received a web page in place of their file, such as the sign-in page of a network.
extension Scheduler {
    /// Retries these downloads, each at its place in the queue, because the network has changed.
    func retryPages() { if queue.isOpen { pageRetries.begin { [weak self] in await self?.tryPages() } } }

    private func tryPages() async {
        guard let store, let entries = try? await store.load(RowFilter(kinds: [.waitingForFreshLink])) else { return }
        for start in stride(from: 0, to: entries.count, by: 1000) {
            let some = entries[start..<min(entries.count, start + 1000)]
            for row in (try? await store.rows(some.map(\.id))) ?? [] where row.waitError?.isPage == true {
                guard !Task.isCancelled, pageRetries.take(row.id) else { continue }
                do throws(DownloadError) {
                    if let live = try await self.live(row.id, in: store) { try await tryPage(live) }
                } catch { complain(error) }
            }
        }
    }

    private func tryPage(_ live: LiveDownload) async throws(DownloadError) {
        await live.lock.acquire()
        defer { live.lock.release() }
        let (now, error) = live.standing
        guard now == .waiting(.freshLink), error?.isPage == true, !live.isClosed else { return }
        try await enqueue([held(live)], keepsPlace: true)
    }
}

extension DownloadError {
    /// Whether a web page was received in place of the file.
    fileprivate var isPage: Bool { phrase?.key == .pageInstead }
}

extension DownloadState {
    /// Whether the queue decides when the wait ends, which may be a wait for a slot, a server, a network or a time.
    var followsQueue: Bool {
        switch self {
        case .waiting(.slot), .waiting(.server), .waiting(.network), .waiting(.retry), .waiting(.notBefore): true
        case .waiting(.diskSpace), .waiting(.freshLink), .waiting(.credentials): false
        case .downloading, .verifying, .paused, .failed, .completed, .cancelled: false
        }
    }
}

extension DownloadError {
    /// The reason to wait for, if this error can be resolved by the user or by free space.
    var userWait: WaitReason? {
        switch code {
        case .freshLink: .freshLink
        case .credentials: .credentials
        case .diskFull: .diskSpace
        default: nil
        }
    }
}

extension DownloadManager.Configuration {
    /// Whether there is a kind of network that a download with this rule may not use.
    func forbids(some rule: NetworkRule) -> Bool {
        !(rule.allowsMetered ?? allowsMeteredNetwork) || !(rule.allowsConstrained ?? allowsConstrainedNetwork)
    }
}
