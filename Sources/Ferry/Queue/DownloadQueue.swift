import FerryCore
import FerryEngine
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The queue of a list, shared by all tasks: the ``QueueMachine``, the phase of the list, and what a decision needs beside them.
///
/// Each method is one whole transition, or one consistent look. A download has one entry, from ``enter(_:_:)``, ``join(_:)`` or
/// ``open(_:)`` to ``unlist(_:)``, ``lost(_:)`` or an ``open(_:)`` without it; with a run, until ``ended(_:)``. Its object is made
/// under the same lock, so that both show the same. Nothing starts
/// unless the list is open: ``suspend()`` and ``beginClosing()`` return all runs that there will be. Nothing is stored here,
/// and nothing waits: the caller stores first, and stops, awaits and tells what is returned.
///
/// Order of mutexes: a download's, the registry's, the settings' and the engine's may be acquired under this one, never the
/// other way round.
final class DownloadQueue: Sendable {
    enum Phase: Sendable, Hashable {
        /// Not used yet; the catalogue is not open.
        case idle
        case open
        /// Closed while the app is suspended; ``Scheduler/activate()`` opens again.
        case suspended
        case closing
        case closed
    }

    fileprivate struct State {
        var phase: Phase
        var machine: QueueMachine
        /// Whether a suspension has closed the list, whose downloads are known from before.
        var wasOpen = false
        /// Whether ``DownloadQueue/drain()`` was called.
        var isDraining = false
        /// The number of snapshots seen; 0 while the network is assumed.
        var network = 0
        /// The network in which the doubt about running downloads began; `nil` without any.
        var doubt: Int?
        /// The dates at which servers are tried again.
        var times = WallTimes()
        /// The rate limits that the runs of a session share, by its number.
        var throttles: [UInt16: Throttle] = [:]
        /// What the timer was last set to.
        var wake = WakeTimer.Setting()
    }
    private let state: Mutex<State>
    private let registry: LiveRegistry
    private let clock: any EngineClock

    /// Creates an empty queue; `isOpen` if it needs no catalogue.
    init(_ configuration: DownloadManager.Configuration, isOpen: Bool, registry: LiveRegistry, clock: any EngineClock) {
        self.registry = registry
        self.clock = clock
        var machine = QueueMachine(
            limit: max(1, configuration.maxConcurrentDownloads), session: configuration.storage.identifier)
        machine.set(sharesSlotsByHost: true)
        machine.permit(configuration)
        state = Mutex(State(phase: isOpen ? .open : .idle, machine: machine))
    }

    // MARK: The life of the list

    var phase: Phase { state.withLock { $0.phase } }
    var isOpen: Bool { phase == .open }

    /// Opens the list with its stored downloads, and removes those that are stored no more. Returns what another process has
    /// changed during a suspension.
    func open(_ downloads: [QueuedDownload]) -> ListChange {
        state.withLock { state in
            let (old, new) = (Set(state.machine.entries.keys), Set(downloads.map(\.id)))
            for id in old.subtracting(new) { state.machine.take(.remove, of: id) }
            for download in downloads { state.machine.enter(download) }
            state.phase = .open
            return state.wasOpen
                ? ListChange(added: new.subtracting(old), removed: old.subtracting(new)) : ListChange()
        }
    }

    /// The runs of a list that is closing, and the timer's last setting.
    struct Closing: Sendable {
        var runs: [DownloadID: Run]
        var wake: WakeTimer.Setting
    }

    /// Begins a suspension; `nil` if there is nothing to close: an unused list is suspended all the same.
    func suspend() -> Closing? {
        state.withLock { state in
            switch state.phase {
            case .closing, .closed, .suspended: return nil
            case .idle:
                state.phase = .suspended
                return nil
            case .open:
                (state.phase, state.wasOpen) = (.suspended, true)
                return state.closing()
            }
        }
    }

    /// Ends a suspension; a list that is kept is to be opened then. Returns false if there was none.
    func endSuspension(isKept: Bool) -> Bool {
        state.withLock { state in
            guard state.phase == .suspended else { return false }
            state.phase = isKept ? .idle : .open
            return true
        }
    }

    /// Begins the shutdown; `nil` if it is over.
    func beginClosing() -> Closing? {
        state.withLock { state in
            guard state.phase != .closed else { return nil }
            state.phase = .closing
            return state.closing()
        }
    }

    /// Ends the shutdown. Returns the objects, to be closed; those that are made from now on are closed.
    func close() -> [LiveDownload] {
        state.withLock { state in
            state.phase = .closed
            return registry.all
        }
    }

    var isDraining: Bool { state.withLock { $0.isDraining } }
    /// Whether new downloads are accepted: asked under the list's lock before they are stored, as ``enter(_:_:)`` does not check.
    var accepts: Bool { state.withLock { !$0.isDraining && $0.phase == .open } }

    /// From now on ``accepts`` is false.
    func drain() { state.withLock { $0.isDraining = true } }

    /// Whether no download runs or is to run; `nil` if the list is not open.
    var isIdle: Bool? { state.withLock { $0.phase == .open ? $0.machine.activeCount == 0 : nil } }

    // MARK: Decisions

    /// What a decision brings about outside of the queue.
    struct Decision {
        var stops: [(run: Run, reason: Run.Stop)] = []
        /// Whether a download has been started.
        var hasStarts = false
        /// Those whose time has come.
        var woken: [DownloadID] = []
        /// Those that the network keeps waiting, and why.
        var barred: [(id: DownloadID, reason: Reason)] = []
        /// Those that wait for their servers for another reason than was shown.
        var told: Set<DownloadID> = []
        /// What the timer is to be set to; `nil` if it is unchanged.
        var wake: WakeTimer.Setting?
        /// Whether names of hosts are to be resolved.
        var hasNames = false
        /// Whether ``DownloadQueue/drain()`` was called, so that the end of the last run is to be notified.
        var isDraining = false
    }

    /// Decides which downloads start and stop now; `nil` if the list is not open.
    ///
    /// - Parameters:
    ///   - book: Called under the lock, if a download could run: its environment is not made before.
    ///   - launch: Gives a run its task; called under the lock, so that whoever finds the run can await it.
    func decide(book: () -> HostBook, launch: (DownloadID, Run) -> Void) -> Decision? {
        state.withLock { state in
            guard state.phase == .open else { return nil }
            let now = clock.now()
            var next = Decision()
            next.woken = state.machine.wake(at: now)
            next.barred = state.machine.newlyBarred().map { (id: $0, reason: state.machine.obstacle(to: $0)) }
            let book = state.machine.activeCount > 0 ? book() : nil
            let decision =
                book.map { state.machine.decide(at: now, hosts: $0) } ?? state.machine.decide(at: now)
            for id in decision.start {
                guard let run = state.machine.run(of: id) else { continue }
                run.refusal = decision.refused[id]
                if run.refusal == nil { run.site = state.machine.site(of: id) }
                launch(id, run)
                next.hasStarts = true
            }
            next.stops = decision.stop.compactMap { stop in
                state.machine.run(of: stop.id).map { (run: $0, reason: stop.reason == .network ? .network : .slot) }
            }
            if state.machine.hasRetries {
                // A run that only waits for its next attempt leaves its slot to downloads that can use it.
                let soon = clock.date().addingTimeInterval(1)
                for run in state.machine.contestedRuns() where !run.isStream {
                    if let at = run.retryAt, at > soon { next.stops.append((run: run, reason: .backOff)) }
                }
                if let book { next.stops += state.machine.idleRuns(book).map { (run: $0, reason: .backOff) } }
            }
            next.told = decision.told
            next.wake = state.wake.changed(to: decision.nextWake)
            next.hasNames = state.machine.hasNames
            next.isDraining = state.isDraining
            return next
        }
    }

    /// The timer has woken: it is to be set again.
    func woke(at time: Duration) {
        state.withLock { state in if state.wake.at == time { _ = state.wake.changed(to: nil) } }
    }

    /// Applies the limits of a configuration.
    func permit(_ configuration: DownloadManager.Configuration) {
        state.withLock { $0.machine.permit(configuration) }
    }

    /// Sets whether downloads of other servers are expected.
    func set(expectsOtherHosts: Bool) { state.withLock { $0.machine.set(expectsOtherHosts: expectsOtherHosts) } }

    /// Asks for all servers again at the next decision.
    func hostsChanged() { state.withLock { $0.machine.hostsChanged() } }

    // MARK: Sessions

    /// Applies the limits of a session.
    func set(_ settings: SessionSettings, of session: String) {
        state.withLock { $0.machine.set(settings, of: session) }
    }

    /// The rate limit that the runs of a session share; `nil` for the list's own session.
    func throttle(of session: String) -> Throttle? {
        state.withLock { state in
            guard let group = state.machine.number(of: session) else { return nil }
            if let throttle = state.throttles[group] { return throttle }
            let throttle = Throttle(rate: state.machine.rules.sessions.settings(of: group).rateLimit, clock: clock)
            state.throttles[group] = throttle
            return throttle
        }
    }

    // MARK: Listing

    /// A key behind all others of a priority.
    func takeKey(_ priority: DownloadPriority) -> QueueKey { state.withLock { $0.machine.takeKey(priority) } }

    /// Keys behind all others of the priorities of these keys, in this order.
    func takeKeys(like keys: [QueueKey]) -> [QueueKey] {
        state.withLock { state in keys.map { state.machine.takeKey(DownloadPriority(rawValue: $0.priority)) } }
    }

    /// Lists downloads with their stored rows; returns their objects.
    func enter(
        _ downloads: [(queued: QueuedDownload, row: CatalogueRow)], _ secrets: [DownloadID: Secrets]
    ) -> [LiveDownload] {
        state.withLock { state in
            downloads.map { queued, row in
                state.machine.enter(queued)
                // After queueing, so that the object shows the correct reason of waiting.
                return object(of: row, secrets[row.id], &state)
            }
        }
    }

    /// Queues downloads that are stored. If they are listed, the queue's key counts, not the given one.
    func join(_ downloads: [QueuedDownload]) {
        state.withLock { state in
            for var download in downloads {
                if let listed = state.machine.listed(download.id) { download.key = listed.key }
                state.machine.enter(download)
            }
        }
    }

    /// Removes downloads and their objects from the list.
    func unlist(_ ids: [DownloadID]) {
        state.withLock { state in
            for id in ids {
                state.machine.take(.remove, of: id)
                registry.remove(id)
            }
        }
    }

    /// The row of a running download is gone.
    func lost(_ id: DownloadID) { state.withLock { $0.machine.take(.remove, of: id) } }

    func isListed(_ id: DownloadID) -> Bool { state.withLock { $0.machine.listed(id) != nil } }

    /// Whether the identifier is in use, also by a download that is leaving.
    func isKnown(_ id: DownloadID) -> Bool { state.withLock { $0.machine.entries[id] != nil } }

    // MARK: Places and conditions

    /// The key of a listed download.
    func key(of id: DownloadID) -> QueueKey? { state.withLock { $0.machine.listed(id)?.key } }

    /// The key of a listed download; of another, a new one.
    func key(of id: DownloadID, or priority: DownloadPriority) -> QueueKey {
        state.withLock { $0.machine.listed(id)?.key ?? $0.machine.takeKey(priority) }
    }

    /// The listed downloads of a priority, ascending by key.
    func places(of priority: Int) -> [QueuePlace] { state.withLock { $0.machine.places(of: priority) } }

    /// Gives listed downloads stored places.
    func set(_ places: [QueuePlace]) {
        state.withLock { state in for place in places { state.machine.set(key: place.key, of: place.id) } }
    }

    /// Applies the conditions of changed requests to downloads that are not parked.
    func set(_ conditions: [(id: DownloadID, of: QueueConditions)]) {
        state.withLock { state in
            for (id, new) in conditions {
                state.machine.set(new.rule, host: new.host, origin: new.origin, of: id)
            }
        }
    }

    /// The stored row of a download has changed, which its run is to take over.
    func edited(_ id: DownloadID) { state.withLock { $0.machine.run(of: id)?.edited() } }

    // MARK: Changing

    /// Keeps a download from starting during a change; it stays listed. Returns its run, to be stopped and awaited.
    func hold(_ id: DownloadID) -> Run? { state.withLock { $0.machine.hold(id) } }

    /// As ``hold(_:)``, unless the download has a run. Returns whether it is held.
    func holdIdle(_ id: DownloadID) -> Bool {
        state.withLock { state in
            guard state.machine.run(of: id) == nil else { return false }
            _ = state.machine.hold(id)
            return true
        }
    }

    /// Holds those that have neither an object nor a run, and have not changed since that stamp. Returns them, and the
    /// other listed ones.
    func holdQuiet(_ entries: [IndexEntry], since stamp: UInt64) -> (held: [IndexEntry], others: [IndexEntry]) {
        var (held, others): ([IndexEntry], [IndexEntry]) = ([], [])
        state.withLock { state in
            for entry in entries {
                guard let listed = state.machine.listed(entry.id) else { continue }
                if registry[entry.id] == nil, listed.state.run == nil, listed.stamp <= stamp {
                    state.machine.take(.hold, of: entry.id)
                    held.append(entry)
                } else {
                    others.append(entry)
                }
            }
        }
        return (held, others)
    }

    /// Ends the changes of downloads.
    func endChange(_ ids: [DownloadID]) {
        state.withLock { state in for id in ids { state.machine.take(.settle, of: id) } }
    }

    /// Sets where downloads are without a run.
    func rest(_ ids: [DownloadID], _ rest: QueueEntry.Rest) {
        state.withLock { state in for id in ids { state.machine.take(.rest(rest), of: id) } }
    }

    /// Queues those that wait for a time.
    func wake(_ ids: [DownloadID]) {
        state.withLock { state in for id in ids { state.machine.take(.wake, of: id) } }
    }

    /// Queues a download that goes on by itself, whatever it waits for, and returns its run or else its server; `nil` if it
    /// is parked or not listed.
    func tryNow(_ id: DownloadID) -> (run: Run?, site: Origin?)? {
        state.withLock { state in
            guard let entry = state.machine.listed(id), !entry.state.isParked else { return nil }
            state.machine.take(.wake, of: id)
            return (entry.state.run, state.machine.site(of: id))
        }
    }

    /// Whether a download waits for a time.
    func isTimed(_ id: DownloadID) -> Bool {
        state.withLock { state in
            if case .resting(.waiting)? = state.machine.listed(id)?.state { true } else { false }
        }
    }

    /// The next runs of these ignore files that exist.
    func fetchAnew(_ ids: [DownloadID]) {
        state.withLock { state in for id in ids { state.machine.fetchAnew(id) } }
    }

    /// Returns, once, whether the run is to ignore a file that exists.
    func takeFetchAnew(_ id: DownloadID) -> Bool { state.withLock { $0.machine.takeFetchAnew(id) } }

    // MARK: Runs

    func run(of id: DownloadID) -> Run? { state.withLock { $0.machine.run(of: id) } }

    /// The run of a download has ended; the next decision may use its slot.
    func ended(_ id: DownloadID) { state.withLock { $0.machine.take(.ended, of: id) } }

    /// Whether a slot is taken, for which progress is reported.
    var isBusy: Bool { state.withLock { $0.phase == .open && $0.machine.occupiedCount > 0 } }

    /// The runs with their objects.
    var running: [(live: LiveDownload, run: Run)] {
        state.withLock { state in
            state.machine.runs.compactMap { id, run in registry[id].map { (live: $0, run: run) } }
        }
    }

    /// Those of the downloads that have a run.
    func running(among ids: [DownloadID]) -> Set<DownloadID> {
        state.withLock { state in Set(ids.filter { state.machine.run(of: $0) != nil }) }
    }

    /// Whether a download of a session, or with `nil` of any, has a run.
    func isRunning(_ session: String?) -> Bool {
        state.withLock { state in
            state.machine.runs.keys.contains { session == nil || registry[$0]?.session == session }
        }
    }

    /// Runs that have reported their start, so that progress may be reported.
    var begun: Set<DownloadID> {
        state.withLock { state in Set(state.machine.runs.lazy.filter(\.value.hasBegun).map(\.key)) }
    }

    /// Those of the downloads that do not go on by themselves.
    func parked(among ids: Set<DownloadID>) -> [DownloadID] { state.withLock { $0.machine.parked(among: ids) } }

    /// The downloads that run or are to run, in the order of the queue, with what they need of a network.
    var active: [(id: DownloadID, needs: NetworkNeeds)] {
        let entries = state.withLock { $0.machine.entries.filter { !$1.state.isParked && !$1.state.isLeaving } }
        return entries.sorted { ($0.value.key, $0.key.rawValue) < ($1.value.key, $1.key.rawValue) }
            .map { ($0.key, NetworkNeeds(lane: Int($0.value.lane))) }
    }

    /// The downloads of an open list that run, leave, or are to run.
    var unparked: [DownloadID] {
        state.withLock { state in
            state.phase == .open ? state.machine.entries.filter { !$1.state.isParked }.map(\.key) : []
        }
    }

    // MARK: The network

    /// What a new snapshot of the network has changed.
    struct NetworkChange {
        /// The number of the network.
        var network: Int
        var isOnline: Bool
        /// The runs whose connections are of the former network; `nil` if it is the same, or there is none.
        var moved: [Run]?
        /// The number of a network in which a doubt has just begun.
        var doubt: Int?
    }

    /// Applies a new network snapshot; one equal to the current snapshot has no effect.
    ///
    /// - Parameter moved: Called under the lock, if the machine is online on another network: the next decision is made
    ///   without what was found out on the former one.
    func see(_ snapshot: NetworkSnapshot, moved: () -> Void) -> NetworkChange {
        state.withLock { state in
            let hasMoved = state.machine.rules.network.generation != snapshot.generation
            if state.network == 0 || snapshot != state.machine.rules.network {
                state.network += 1
                state.machine.see(snapshot)
                if snapshot.status.isOnline { state.doubt = nil }
            }
            var change = NetworkChange(network: state.network, isOnline: snapshot.status.isOnline)
            if state.phase == .open, state.doubt == nil, state.machine.hasDoubt {
                (state.doubt, change.doubt) = (state.network, state.network)
            }
            guard hasMoved, snapshot.status.isOnline else { return change }
            moved()
            state.machine.hostsChanged()
            change.moved = state.machine.runs.compactMap { id, run in
                state.machine.hosts.isNear(state.machine.entries[id]?.host ?? QueuedHosts.none) ? nil : run
            }
            return change
        }
    }

    /// Whether a snapshot was seen.
    var isNetworkKnown: Bool { state.withLock { $0.network > 0 } }
    /// Whether the list is open, and its network is still assumed.
    var assumesNetwork: Bool { state.withLock { $0.phase == .open && $0.network == 0 } }
    var networkStatus: NetworkStatus { state.withLock { $0.machine.rules.network.status } }

    /// The next host name to resolve while there is no way to other networks, and the number of the network.
    func nextName() -> (name: String, network: Int)? {
        state.withLock { state in
            guard state.phase == .open, let name = state.machine.nextName() else { return nil }
            return (name, state.network)
        }
    }

    /// Notes whether a host name leads to the local network, as resolved in that network. Returns false if nothing changed.
    func found(_ name: String, isNear: Bool, in network: Int) -> Bool {
        state.withLock { $0.network == network && $0.machine.settle(name, isNear: isNear) }
    }

    /// Ends a doubt that began in that network, unless it is over.
    func endDoubt(of network: Int) {
        state.withLock { state in
            guard state.doubt == network else { return }
            state.doubt = nil
            state.machine.endDoubt(about: nil)
        }
    }

    /// Whether a network that the download may use is available.
    func mayConnect(_ id: DownloadID) -> Bool { state.withLock { $0.machine.mayConnect(id) } }

    /// Marks the wait of a download for a network as reported; returns why it waits.
    func reportObstacle(to id: DownloadID) -> Reason {
        state.withLock { state in
            state.machine.report(id)
            return state.machine.obstacle(to: id)
        }
    }

    // MARK: Objects and what they show

    /// The stamp of the last change of any entry.
    var stamp: UInt64 { state.withLock { $0.machine.stamp } }

    /// The objects of rows, or which rows are to be read again.
    struct Objects {
        var found: [LiveDownload] = []
        /// Those that have changed since their rows were read, or are being changed.
        var stale: Set<DownloadID> = []
        var isChanging = false
    }

    /// The objects of rows that were read when the stamp was `stamp`, which is set for reading again. Rows that are not listed
    /// are removed.
    func objects(of rows: inout [CatalogueRow], since stamp: inout UInt64) -> Objects {
        state.withLock { state in
            var objects = Objects()
            rows.removeAll { row in
                guard registry[row.id] == nil else { return false }
                guard let entry = state.machine.listed(row.id) else { return true }
                if entry.state.isChanging { objects.isChanging = true }
                if entry.state.isChanging || entry.stamp > stamp { objects.stale.insert(row.id) }
                return false
            }
            stamp = state.machine.stamp
            if objects.stale.isEmpty { objects.found = rows.map { object(of: $0, nil, &state) } }
            return objects
        }
    }

    /// The object of a run's input, which it shows from now on; `nil` if the download was edited since the input was read.
    func object(of input: RunInput, in run: Run) -> LiveDownload? {
        let request = input.row.request(with: input.secrets)
        return state.withLock { state in
            guard run.edits == input.edits else { return nil }
            let live = object(of: input.row, input.secrets, &state)
            // An object that was created for a list lacks the secrets.
            live.set(request: request)
            return live
        }
    }

    private func object(of row: CatalogueRow, _ secrets: Secrets?, _ state: inout State) -> LiveDownload {
        if let live = registry[row.id] { return live }
        let live = LiveDownload(row, secrets: secrets, registry: registry)
        if live.current.followsQueue, let now = state.standing(of: row.id, clock) {
            live.set(state: .waiting(now.reason), after: now.error)
        }
        registry.insert(live)
        if state.phase == .closed { live.close() }
        return live
    }

    /// The object of a listed download, and its key; `nil` if it is not in memory.
    func listed(_ id: DownloadID) -> (live: LiveDownload, key: QueueKey)? {
        state.withLock { state in
            guard let live = registry[id], let entry = state.machine.listed(id) else { return nil }
            return (live, entry.key)
        }
    }

    /// The reason why a queued download waits; `nil` if it is running, not queued, or waits for a time.
    func standing(of id: DownloadID) -> Standing? { state.withLock { $0.standing(of: id, clock) } }

    /// The queued downloads of an open list whose objects show another reason than they wait for.
    func unshown(_ lives: [LiveDownload]) -> [(live: LiveDownload, old: DownloadState, new: Standing)] {
        state.withLock { state in
            guard state.phase == .open else { return [] }
            return lives.compactMap { live in
                let (old, error) = live.standing
                guard old.followsQueue, let new = state.standing(of: live.id, clock),
                    old != .waiting(new.reason) || error != new.error
                else { return nil }
                return (live: live, old: old, new: new)
            }
        }
    }

    /// The place of a download that waits for a slot.
    func place(of id: DownloadID) -> (before: Int, running: Int, limit: Int)? {
        state.withLock { state in
            state.machine.countBefore(id).map { ($0, state.machine.slotsTaken, state.machine.rules.limit) }
        }
    }
}

extension DownloadQueue.State {
    /// The runs that end, and the timer without a time.
    fileprivate mutating func closing() -> DownloadQueue.Closing {
        _ = wake.changed(to: nil)
        return DownloadQueue.Closing(runs: machine.runs, wake: wake)
    }

    /// The reason why a queued download waits, as its status shows it; `nil` if it is not queued.
    fileprivate mutating func standing(of id: DownloadID, _ clock: any EngineClock) -> Standing? {
        switch machine.hindrance(of: id) {
        case nil: return nil
        case .slot: return .slot
        case .network(let obstacle):
            let error = DownloadError(.network, ErrorPhrase(obstacle), recovery: .transient(retryAfter: nil))
            return Standing(reason: .network, error: error)
        case .server(let origin, let wait):
            let since = wait.since.map { times.date(of: $0, clock) }
            let until = wait.until.map { times.date(of: $0, clock) }
            return Standing(reason: .server(since: since, until: until), error: wait.error(of: origin.host))
        }
    }
}

extension QueueMachine {
    fileprivate mutating func permit(_ configuration: DownloadManager.Configuration) {
        set(limit: configuration.maxConcurrentDownloads)
        set(waitsForServers: configuration.waitsForServers)
        set(
            allowsMetered: configuration.allowsMeteredNetwork,
            allowsConstrained: configuration.allowsConstrainedNetwork)
    }

    fileprivate mutating func enter(_ download: QueuedDownload) {
        enter(
            download.id, key: download.key, rule: download.conditions.rule, host: download.conditions.host,
            origin: download.conditions.origin, session: download.session, as: download.rest)
    }

    /// The runs that wait for their next attempt at a server that is down, except the first of each server: one is
    /// enough to find out when it is back.
    fileprivate func idleRuns(_ book: HostBook) -> [Run] {
        let idle = runs.filter { _, run in
            !run.isStream && run.retryAt != nil && run.site.map(book.isDown) ?? false
        }
        guard idle.count > 1 else { return [] }
        var seen: Set<Origin> = []
        return idle.compactMap { id, run in entries[id].map { (key: $0.key, id: id, run: run) } }
            .sorted { ($0.key, $0.id.rawValue) < ($1.key, $1.id.rawValue) }
            .filter { $0.run.site.map { !seen.insert($0).inserted } ?? false }
            .map(\.run)
    }
}
