import FerryCore
import FerryEngine
import Synchronization

/// Network permissions, and the downloads that wait for them.
extension Scheduler {
    /// Watches the network from now on. An `.ephemeral` manager calls this only once something depends on it: a
    /// restrictive rule, a reader of the status, a failed attempt.
    func watchNetwork() {
        state.withLock { state in
            guard state.network.watcher == nil, state.phase == .open, state.configuration.watchesNetwork else { return }
            // owner: state.network, cancelled in shutdown.
            state.network.watcher = Task { [weak self, monitor] in
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
            guard state.phase == .open, !state.network.isKnown, state.configuration.watchesNetwork else { return nil }
            return state.configuration
        }
        guard let configuration, rules.contains(where: { configuration.forbids(some: $0) }) else { return }
        // Not concurrently with shutdown, after which no watch may start.
        await openLock.acquire()
        defer { openLock.release() }
        guard state.withLock({ $0.phase == .open && !$0.network.isKnown }) else { return }
        await monitor.start()
        networkChanged(monitor.current)
        watchNetwork()
    }

    func networkChanged(_ snapshot: NetworkSnapshot) {
        let moved: [Run]? = state.withLock { state in
            let hasMoved = state.queue.rules.network.generation != snapshot.generation
            state.see(snapshot)
            limitDoubt(&state)
            guard hasMoved, snapshot.status.isOnline else { return nil }
            // What was found out about servers and names on the other network says nothing.
            engine.networkChanged()
            state.queue.hostsChanged()
            return state.queue.runs.compactMap { id, run in
                state.queue.hosts.isNear(state.queue.entries[id]?.host ?? QueuedHosts.none) ? nil : run
            }
        }
        if moved?.contains(where: { $0.driver != nil }) == true { environment.renewConnections() }
        networkHub.send(snapshot.status)
        // Reschedule before reconnecting, so that downloads that may not use the network do not try it.
        reschedule()
        for run in moved ?? [] where run.wish == nil { run.driver?.reconnect() }
        showStandings()
        if moved != nil { retryPages() }
    }

    // MARK: Lookups

    /// Maximum number of concurrent lookups.
    private static let lookupLimit = 64

    /// How long running downloads continue while their hosts are being resolved.
    static let doubtLimit: Duration = .milliseconds(300)

    /// Resolves the hosts of queued downloads while offline, since they may be local. Until then they count as
    /// remote; nothing waits for the result.
    func lookUpNames(_ state: inout State) {
        guard state.phase == .open else { return }
        let network = state.network.count
        while state.network.lookups.count < Self.lookupLimit, let name = state.queue.nextName() {
            // owner: state.network; cancelled when the network changes, and in shutdown.
            state.network.lookups[name] = Task { [weak self, monitor] in
                let isNear = await monitor.isLocal(name)
                guard !Task.isCancelled else { return }
                self?.found(name, isNear, in: network)
            }
        }
    }

    private func found(_ name: String, _ isNear: Bool, in network: Int) {
        let isNews = state.withLock { state in
            guard state.network.count == network else { return false }
            state.network.lookups[name] = nil
            return state.queue.settle(name, isNear: isNear)
        }
        reschedule()
        if isNews { showStandings() }
    }

    /// Downloads whose host has not been resolved within the grace period are paused: we cannot tell whether it is on
    /// the local network.
    private func limitDoubt(_ state: inout State) {
        guard state.queue.hasDoubt, state.network.doubt == nil, state.phase == .open else { return }
        let network = state.network.count
        // owner: state.network; cancelled when the machine is online again, and in shutdown.
        let task = Task { [weak self, clock] in
            try? await clock.sleep(for: Self.doubtLimit)
            guard !Task.isCancelled else { return }
            self?.endDoubt(of: network)
        }
        state.network.doubt = (network, task)
    }

    private func endDoubt(of network: Int) {
        state.withLock { state in
            guard state.network.doubt?.network == network else { return }
            state.network.doubt = nil
            state.queue.endDoubt(about: nil)
        }
        reschedule()
    }

    /// Ends all lookups; called at shutdown, after which none begins.
    func endLookups() async {
        let tasks: [Task<Void, Never>] = state.withLock { state in
            defer { state.network.lookups = [:] }
            return Array(state.network.lookups.values) + [state.network.doubt?.task].compactMap(\.self)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    // MARK: Rules and wait reasons

    /// The reason why a queued download waits; `nil` if it is running, not queued, or waits for a time.
    func standing(of id: DownloadID) -> Standing? { state.withLock { $0.standing(of: id, clock) } }

    /// Updates the shown reason of all waiting downloads.
    func showStandings() { showStandings(of: registry.all) }

    /// Updates the shown reason of queued downloads. The one place that does so: after queueing, after a run, when a
    /// wait is over, and when permissions change.
    func showStandings(of lives: [LiveDownload]) {
        var lives = lives
        // Check the updated downloads again, since the queue may have changed meanwhile.
        while !lives.isEmpty {
            let stale: [(live: LiveDownload, old: DownloadState, new: Standing)] = state.withLock { state in
                guard state.phase == .open else { return [] }
                return lives.compactMap { live in
                    let (old, error) = live.standing
                    guard old.followsQueue, let new = state.standing(of: live.id, clock),
                        old != .waiting(new.reason) || error != new.error
                    else { return nil }
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

/// Downloads that got a web page in place of their file, such as the sign-in page of a network.
extension Scheduler {
    /// How often a download is tried again by itself before its user has to resume it, so that a page that always comes is
    /// not requested for ever by a machine that changes its network often.
    static let mostPageAttempts = 12

    /// Tries them again, each at its place in the queue: the network has changed.
    func retryPages() {
        let last = state.withLock { state in
            defer { state.network.pages = nil }
            return state.network.pages
        }
        last?.cancel()
        state.withLock { state in
            guard state.phase == .open, state.store != nil else { return }
            // owner: state.network; cancelled when the network changes, and in shutdown.
            state.network.pages = Task { [weak self] in
                await last?.value
                await self?.tryPages()
            }
        }
    }

    /// Ends the attempts; called at shutdown, before it holds the list's lock, which an attempt may wait for.
    func endPages() async {
        let pages = state.withLock { $0.network.pages }
        pages?.cancel()
        await pages?.value
    }

    private func tryPages() async {
        guard let store, let entries = try? await store.load(RowFilter(kinds: [.waitingForFreshLink])) else { return }
        for start in stride(from: 0, to: entries.count, by: 1000) {
            let some = entries[start..<min(entries.count, start + 1000)]
            for row in (try? await store.rows(some.map(\.id))) ?? [] where row.waitError?.isPage == true {
                guard !Task.isCancelled, takePageAttempt(of: row.id) else { continue }
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

    private func takePageAttempt(of id: DownloadID) -> Bool {
        state.withLock { state in
            let count = state.network.pageAttempts[id, default: 0]
            guard count < Self.mostPageAttempts else { return false }
            state.network.pageAttempts[id] = count + 1
            return true
        }
    }

    /// The download has got past the page, its user tries it again, or it is not listed any more.
    func forgetPage(_ id: DownloadID) { state.withLock { $0.network.pageAttempts[id] = nil } }
}

extension DownloadError {
    /// Whether a web page came in place of the file.
    fileprivate var isPage: Bool { phrase?.key == .pageInstead }
}

extension DownloadState {
    /// Whether the queue decides when the wait ends: slot, server, network, time.
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
    /// Whether a download with this rule may not use some network.
    fileprivate func forbids(some rule: NetworkRule) -> Bool {
        !(rule.allowsMetered ?? allowsMeteredNetwork) || !(rule.allowsConstrained ?? allowsConstrainedNetwork)
    }
}

/// The scheduler's state of the network.
struct NetworkTasks: Sendable {
    /// The number of snapshots seen; 0 while the network is assumed.
    var count = 0
    var isKnown: Bool { count > 0 }
    var watcher: Task<Void, Never>?
    /// Names that are being resolved in this network.
    var lookups: [String: Task<Void, Never>] = [:]
    /// Ends the grace period of downloads in doubt.
    var doubt: (network: Int, task: Task<Void, Never>)?
    /// Tries downloads again that got a page of the former network.
    var pages: Task<Void, Never>?
    /// How often each was tried again.
    var pageAttempts: [DownloadID: Int] = [:]
}

extension Scheduler.State {
    /// The host that a download connects to: that of its proxy, if there is one.
    func host(of request: DownloadRequest) -> String? {
        let proxies = configuration.transfer.proxy
        guard var url = request.sources.first else { return nil }
        // Of profiles nothing is known here.
        if url.isObject, let store = configuration.transfer.s3.endpoint { url = store }
        return (request.connection.proxy.map(proxies.using) ?? proxies).proxy(for: url)?.host ?? url.host
    }

    /// The same for a host of the index, whose scheme is not known: the proxy, if it is that of both schemes.
    func host(for name: String) -> String {
        let settings = configuration.transfer.proxy
        guard settings.hasProxy else { return name }
        let text = name.utf8.contains(UInt8(ascii: ":")) ? "[\(name)]" : name
        let proxies = ["http", "https"].map { scheme in
            (try? DownloadURL("\(scheme)://\(text)/")).flatMap { settings.proxy(for: $0)?.host }
        }
        return proxies[0] == proxies[1] ? proxies[0] ?? name : name
    }

    /// Applies a new network snapshot; one equal to the current snapshot has no effect.
    mutating func see(_ snapshot: NetworkSnapshot) {
        guard !network.isKnown || snapshot != queue.rules.network else { return }
        network.count += 1
        for lookup in network.lookups.values { lookup.cancel() }
        network.lookups = [:]
        queue.see(snapshot)
        if snapshot.status.isOnline {
            network.doubt?.task.cancel()
            network.doubt = nil
        }
    }
}
