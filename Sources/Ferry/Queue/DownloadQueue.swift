import FerryCore
import FerryEngine
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The queue of a list, shared by all tasks: the ``QueueMachine``, the phase of the list, and other data that decisions need.
///
/// Each method is one whole transition, or one consistent read. A download has one entry, from ``enter(_:_:)``, ``join(_:)`` or
/// ``open(_:)`` until ``unlist(_:)``, ``lost(_:)``, or an ``open(_:)`` without the download. The entry of a download that has a run
/// remains until ``ended(_:)``. The object of a download is created under the same lock, so that entry and object are consistent.
/// No run starts unless the list is open, so ``suspend()`` and ``beginClosing()`` return all runs. The queue stores nothing and
/// never waits: the caller stores changes first, then stops, awaits or reports what a method returns.
///
/// Order of mutexes: those of a download, the registry, the settings and the engine may be acquired while this one is held,
/// never vice versa.
final class DownloadQueue: Sendable {
    enum Phase: Sendable, Hashable {
        /// Not used yet; the catalogue is not open.
        case idle
        case open
        /// Closed while the app is suspended; ``Scheduler/activate()`` opens the list again.
        case suspended
        case closing
        case closed
    }

    fileprivate struct State {
        var phase: Phase
        var machine: QueueMachine
        /// Whether a suspension has closed the list, so that its downloads are known from the previous opening.
        var wasOpen = false
        /// Whether ``DownloadQueue/drain()`` was called.
        var isDraining = false
        /// The number of snapshots seen; 0 while the network is assumed.
        var network = 0
        /// The number of the network in which it became doubtful whether running downloads still have a network; `nil` if there is
        /// no doubt.
        var doubt: Int?
        /// The dates of the next attempts at servers.
        var times = WallTimes()
        /// The rate limits that the runs of a session share, by the number of the session.
        var throttles: [UInt16: Throttle] = [:]
        /// The last setting of the timer.
        var wake = WakeTimer.Setting()
        /// The wall clock's lead over the monotonic clock in seconds, by which the times of dates were determined.
        var lead: Double?

        /// Adjusts the times of dates if the wall clock has been set since the last call.
        mutating func follow(wall: Date, at now: Duration) {
            let new = wall.timeIntervalSinceReferenceDate - now.seconds
            defer { if lead == nil { lead = new } }
            guard let lead, abs(new - lead) >= 1 else { return }
            self.lead = new
            machine.follow(wall: wall, at: now)
        }

        /// The time for the timer: that of the decision, but while downloads wait, at most a minute from now, because the wall clock
        /// may be set.
        func wakeTime(_ next: Duration?, at now: Duration) -> Duration? {
            let latest = now + .seconds(60)
            guard let next, next > latest else { return next }
            // A time that is already set is kept, so that not every decision sets the timer.
            return wake.at.flatMap { $0 > now && $0 <= latest ? $0 : nil } ?? latest
        }
    }
    private let state: Mutex<State>
    private let registry: LiveRegistry
    private let clock: any EngineClock

    /// Creates an empty queue; `isOpen` is true if the list needs no catalogue.
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

    /// Opens the list with its stored downloads, and removes downloads that are no longer stored. Returns the changes that
    /// another process made during a suspension.
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

    /// Begins a suspension; `nil` if there is nothing to close. An unused list is suspended too.
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

    /// Ends a suspension; a stored list must then be opened. Returns false if the list was not suspended.
    func endSuspension(isKept: Bool) -> Bool {
        state.withLock { state in
            guard state.phase == .suspended else { return false }
            state.phase = isKept ? .idle : .open
            return true
        }
    }

    /// Begins the shutdown; `nil` if it has already ended.
    func beginClosing() -> Closing? {
        state.withLock { state in
            guard state.phase != .closed else { return nil }
            state.phase = .closing
            return state.closing()
        }
    }

    /// Ends the shutdown. Returns the objects that the caller must close; objects that are created later are closed from the
    /// start.
    func close() -> [LiveDownload] {
        state.withLock { state in
            state.phase = .closed
            return registry.all
        }
    }

    var isDraining: Bool { state.withLock { $0.isDraining } }
    /// Whether new downloads are accepted. Checked under the list's lock before they are stored, because ``enter(_:_:)`` does
    /// not check.
    var accepts: Bool { state.withLock { !$0.isDraining && $0.phase == .open } }

    /// Makes ``accepts`` permanently false.
    func drain() { state.withLock { $0.isDraining = true } }

    /// Whether no download is running or queued; `nil` if the list is not open.
    var isIdle: Bool? { state.withLock { $0.phase == .open ? $0.machine.activeCount == 0 : nil } }

    // MARK: Decisions

    /// The effects of a decision outside the queue.
    struct Decision {
        var stops: [(run: Run, reason: Run.Stop)] = []
        /// Whether a download has been started.
        var hasStarts = false
        /// Downloads whose waiting time is over.
        var woken: [DownloadID] = []
        /// Downloads that have begun to wait for a network, with the reasons.
        var barred: [(id: DownloadID, reason: Reason)] = []
        /// Downloads that wait for their servers for a reason other than the one shown.
        var told: Set<DownloadID> = []
        /// The new setting of the timer; `nil` if it is unchanged.
        var wake: WakeTimer.Setting?
        /// Whether host names must be resolved.
        var hasNames = false
        /// Whether ``DownloadQueue/drain()`` was called, so that the end of the last run must be notified.
        var isDraining = false
    }

    /// Decides which downloads start and stop now; `nil` if the list is not open.
    ///
    /// - Parameters:
    ///   - book: Called under the lock, and only if a download could run, because it creates the engine's environment.
    ///   - launch: Creates the task of a run; called under the lock, so that any code that finds the run can await it.
    func decide(book: () -> HostBook, launch: (DownloadID, Run) -> Void) -> Decision? {
        state.withLock { state in
            guard state.phase == .open else { return nil }
            let now = clock.now()
            var next = Decision()
            state.follow(wall: clock.date(), at: now)
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
                // A run that only waits for its next attempt yields its slot to downloads that can use it.
                let soon = clock.date().addingTimeInterval(1)
                for run in state.machine.contestedRuns() where !run.isStream {
                    if let at = run.retryAt, at > soon { next.stops.append((run: run, reason: .backOff)) }
                }
                if let book { next.stops += state.machine.idleRuns(book).map { (run: $0, reason: .backOff) } }
            }
            next.told = decision.told
            next.wake = state.wake.changed(to: state.wakeTime(decision.nextWake, at: now))
            next.hasNames = state.machine.hasNames
            next.isDraining = state.isDraining
            return next
        }
    }

    /// Notes that the timer has fired, and must be set again.
    func woke(at time: Duration) {
        state.withLock { state in if state.wake.at == time { _ = state.wake.changed(to: nil) } }
    }

    /// Applies the limits of a configuration.
    func permit(_ configuration: DownloadManager.Configuration) {
        state.withLock { $0.machine.permit(configuration) }
    }

    /// Sets whether downloads from other servers are expected.
    func set(expectsOtherHosts: Bool) { state.withLock { $0.machine.set(expectsOtherHosts: expectsOtherHosts) } }

    /// Makes the next decision check all servers again.
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

    /// A key after all others of a priority.
    func takeKey(_ priority: DownloadPriority) -> QueueKey { state.withLock { $0.machine.takeKey(priority) } }

    /// Keys after all others, with the priorities of these keys, in this order.
    func takeKeys(like keys: [QueueKey]) -> [QueueKey] {
        state.withLock { state in keys.map { state.machine.takeKey(DownloadPriority(rawValue: $0.priority)) } }
    }

    /// Adds downloads with their stored rows to the list; returns their objects.
    func enter(
        _ downloads: [(queued: QueuedDownload, row: CatalogueRow)], _ secrets: [DownloadID: Secrets]
    ) -> [LiveDownload] {
        state.withLock { state in
            downloads.map { queued, row in
                state.machine.enter(queued)
                // Create the object after queueing, so that it shows the correct reason for waiting.
                return object(of: row, secrets[row.id], &state)
            }
        }
    }

    /// Queues stored downloads. Downloads that are already listed keep their keys.
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

    /// Notes that the row of a running download no longer exists.
    func lost(_ id: DownloadID) { state.withLock { $0.machine.take(.remove, of: id) } }

    func isListed(_ id: DownloadID) -> Bool { state.withLock { $0.machine.listed(id) != nil } }

    /// Whether the identifier is in use, including by a download that is being removed.
    func isKnown(_ id: DownloadID) -> Bool { state.withLock { $0.machine.entries[id] != nil } }

    // MARK: Places and conditions

    /// The key of a listed download.
    func key(of id: DownloadID) -> QueueKey? { state.withLock { $0.machine.listed(id)?.key } }

    /// The key of a listed download; a new key for any other download.
    func key(of id: DownloadID, or priority: DownloadPriority) -> QueueKey {
        state.withLock { $0.machine.listed(id)?.key ?? $0.machine.takeKey(priority) }
    }

    /// The listed downloads of a priority, ascending by key.
    func places(of priority: Int) -> [QueuePlace] { state.withLock { $0.machine.places(of: priority) } }

    /// Applies stored places to listed downloads.
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

    /// Notes that the stored row of a download has changed, so that its run applies the change.
    func edited(_ id: DownloadID) { state.withLock { $0.machine.run(of: id)?.edited() } }

    // MARK: Changing

    /// Prevents a download from starting during a change; the download stays listed. Returns its run, which the caller must
    /// stop and await.
    func hold(_ id: DownloadID) -> Run? { state.withLock { $0.machine.hold(id) } }

    /// Like ``hold(_:)``, but has no effect if the download has a run. Returns whether the download is held.
    func holdIdle(_ id: DownloadID) -> Bool {
        state.withLock { state in
            guard state.machine.run(of: id) == nil else { return false }
            _ = state.machine.hold(id)
            return true
        }
    }

    /// Holds the downloads that have neither an object nor a run and have not changed since the stamp. Returns these, and the
    /// other listed downloads.
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

    /// Ends the changes of held downloads, so that these can start again.
    func endChange(_ ids: [DownloadID]) {
        state.withLock { state in for id in ids { state.machine.take(.settle, of: id) } }
    }

    /// Sets the states in which downloads rest without a run.
    func rest(_ ids: [DownloadID], _ rest: QueueEntry.Rest) {
        state.withLock { state in for id in ids { state.machine.take(.rest(rest), of: id) } }
    }

    /// Queues downloads that wait for a time.
    func wake(_ ids: [DownloadID]) {
        state.withLock { state in for id in ids { state.machine.take(.wake, of: id) } }
    }

    /// Queues a download that would continue automatically, regardless of what it waits for, and returns its run, if it has one;
    /// `nil` if the download is parked or not listed.
    func tryNow(_ id: DownloadID) -> Run?? {
        state.withLock { state in
            guard let entry = state.machine.listed(id), !entry.state.isParked else { return nil }
            state.machine.take(.wake, of: id)
            return .some(entry.state.run)
        }
    }

    /// The queued downloads of a session, or of any session if it is `nil`, that wait for a server that is down or has requested a
    /// delay, and these servers.
    func waitingForServers(_ session: String?) -> (ids: Set<DownloadID>, origins: Set<Origin>) {
        state.withLock { state in state.machine.waitingForServers(session) }
    }

    /// The state of a download that rests; `nil` if it has a run, is being changed, or is not listed.
    func rest(of id: DownloadID) -> QueueEntry.Rest? {
        state.withLock { state in
            if case .resting(let rest)? = state.machine.listed(id)?.state { rest } else { nil }
        }
    }

    /// Makes the next runs of these downloads ignore existing files.
    func fetchAnew(_ ids: [DownloadID]) {
        state.withLock { state in for id in ids { state.machine.fetchAnew(id) } }
    }

    /// Returns whether the run must ignore an existing file; true only once.
    func takeFetchAnew(_ id: DownloadID) -> Bool { state.withLock { $0.machine.takeFetchAnew(id) } }

    // MARK: Runs

    func run(of id: DownloadID) -> Run? { state.withLock { $0.machine.run(of: id) } }

    /// Sets the conditions of a run whose server was assumed from the name of its host alone. Returns false if the real server
    /// does not permit the start; the download then waits for this server in the queue once the run has ended.
    func correct(_ run: Run, _ real: QueueConditions, of id: DownloadID, _ book: HostBook) -> Bool {
        // allow(origin): the health of a server; carries no secret.
        let server = real.origin
        return state.withLock { state in
            guard run.refusal == nil, run.site != server, run.wish == nil else { return true }
            state.machine.set(real.rule, host: real.host, origin: server, of: id)
            let mayStart = book.corrected(run.site, to: server)
            run.site = mayStart ? server : nil
            return mayStart
        }
    }

    /// Notes that the run of a download has ended; the next decision may use its slot.
    func ended(_ id: DownloadID) { state.withLock { $0.machine.take(.ended, of: id) } }

    /// Whether any slot is taken, so that progress must be reported.
    var isBusy: Bool { state.withLock { $0.phase == .open && $0.machine.occupiedCount > 0 } }

    /// The runs with their objects.
    var running: [(live: LiveDownload, run: Run)] {
        state.withLock { state in
            state.machine.runs.compactMap { id, run in registry[id].map { (live: $0, run: run) } }
        }
    }

    /// The given downloads that have a run.
    func running(among ids: [DownloadID]) -> Set<DownloadID> {
        state.withLock { state in Set(ids.filter { state.machine.run(of: $0) != nil }) }
    }

    /// Whether a download of a session, or of any session if it is `nil`, has a run.
    func isRunning(_ session: String?) -> Bool {
        state.withLock { state in
            state.machine.runs.keys.contains { session == nil || registry[$0]?.session == session }
        }
    }

    /// Runs that have reported their start, so that progress may be reported.
    var begun: Set<DownloadID> {
        state.withLock { state in Set(state.machine.runs.lazy.filter(\.value.hasBegun).map(\.key)) }
    }

    /// The given downloads that do not continue automatically.
    func parked(among ids: Set<DownloadID>) -> [DownloadID] { state.withLock { $0.machine.parked(among: ids) } }

    /// The running and queued downloads, in the order of the queue, with their network needs.
    var active: [(id: DownloadID, needs: NetworkNeeds)] {
        let entries = state.withLock { $0.machine.entries.filter { !$1.state.isParked && !$1.state.isLeaving } }
        return entries.sorted { ($0.value.key, $0.key.rawValue) < ($1.value.key, $1.key.rawValue) }
            .map { ($0.key, NetworkNeeds(lane: Int($0.value.lane))) }
    }

    /// The downloads of an open list that are running, queued, or being removed.
    var unparked: [DownloadID] {
        state.withLock { state in
            state.phase == .open ? state.machine.entries.filter { !$1.state.isParked }.map(\.key) : []
        }
    }

    // MARK: The network

    /// The effects of a new network snapshot.
    struct NetworkChange {
        /// The number of the network.
        var network: Int
        var isOnline: Bool
        /// The runs whose connections belong to the previous network; `nil` if the network is the same, or the machine is
        /// offline.
        var moved: [Run]?
        /// The number of a network in which a doubt has just begun.
        var doubt: Int?
    }

    /// Applies a new network snapshot; a snapshot that equals the current one has no effect.
    ///
    /// - Parameter moved: Called under the lock, if the machine is online on another network, so that the next decision does
    ///   not use knowledge from the previous one.
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

    /// Whether a snapshot has been seen.
    var isNetworkKnown: Bool { state.withLock { $0.network > 0 } }
    /// Whether the list is open while its network is still assumed.
    var assumesNetwork: Bool { state.withLock { $0.phase == .open && $0.network == 0 } }
    var networkStatus: NetworkStatus { state.withLock { $0.machine.rules.network.status } }

    /// The next host name to resolve while there is no route to other networks, and the number of the network.
    func nextName() -> (name: String, network: Int)? {
        state.withLock { state in
            guard state.phase == .open, let name = state.machine.nextName() else { return nil }
            return (name, state.network)
        }
    }

    /// Notes whether a host name, as resolved in that network, belongs to the local network. Returns false if nothing changed.
    func found(_ name: String, isNear: Bool, in network: Int) -> Bool {
        state.withLock { $0.network == network && $0.machine.settle(name, isNear: isNear) }
    }

    /// Ends a doubt that began in that network, unless it has already ended.
    func endDoubt(of network: Int) {
        state.withLock { state in
            guard state.doubt == network else { return }
            state.doubt = nil
            state.machine.endDoubt(about: nil)
        }
    }

    /// Whether a network that the download may use is available.
    func mayConnect(_ id: DownloadID) -> Bool { state.withLock { $0.machine.mayConnect(id) } }

    /// Marks the wait of a download for a network as reported; returns the reason for the wait.
    func reportObstacle(to id: DownloadID) -> Reason {
        state.withLock { state in
            state.machine.report(id)
            return state.machine.obstacle(to: id)
        }
    }

    // MARK: Objects and what they show

    /// The stamp of the last change of any entry.
    var stamp: UInt64 { state.withLock { $0.machine.stamp } }

    /// The objects of rows, or the rows that must be read again.
    struct Objects {
        var found: [LiveDownload] = []
        /// Downloads that have changed since their rows were read, or are being changed.
        var stale: Set<DownloadID> = []
        var isChanging = false
    }

    /// The objects of rows that were read when the stamp was `stamp`; sets `stamp` for another read. Rows that are not listed
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

    /// The object of the download, which shows the run's input from now on; `nil` if the download has been edited since the input
    /// was read.
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

    /// The reason why a queued download waits; `nil` if the download is running, not queued, or waits for a time.
    func standing(of id: DownloadID) -> Standing? { state.withLock { $0.standing(of: id, clock) } }

    /// The queued downloads of an open list whose objects do not show the actual reason for the wait.
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
    /// All runs, which must end, and a setting that clears the timer.
    fileprivate mutating func closing() -> DownloadQueue.Closing {
        _ = wake.changed(to: nil)
        return DownloadQueue.Closing(runs: machine.runs, wake: wake)
    }

    /// The reason why a queued download waits, as its status shows it; `nil` if the download is not queued.
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
            return Standing(reason: .server(since: since, until: until), error: wait.error(of: origin))
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

    /// The runs that wait for their next attempt at a server that is down, except the first run of each server, which suffices
    /// to detect when the server is back.
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
