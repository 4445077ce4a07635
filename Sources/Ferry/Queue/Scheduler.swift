import CoreMetrics
import FerryCore
import FerryEngine
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The list of downloads and their runs.
///
/// ```
/// add, resume, retry, network, limit ─► QueueMachine.decide ─► launch: row, secrets, DownloadDriver.run
///        ▲                                                └─► stop ─┐
///        └────────────── ended: store, state, event ◄───────────────┘
/// ```
///
/// Invariants: every listed download has one entry in the ``QueueMachine``, which alone starts and stops downloads;
/// durable state is stored before it is reported; every run is in its download's entry until it has ended and is
/// awaited by ``shutdown()``. A user action holds the download's `AsyncLock`; one that needs the download without a run
/// works in ``holding(_:_:_:)``.
///
/// Order of async locks: the list's may be acquired while a download's is held, never the other way round. Order of
/// mutexes: a download's may be acquired under this one, never the other way round; none is held across a suspension.
final class Scheduler: Sendable {
    enum Phase: Sendable, Hashable {
        /// Not used yet; the catalogue is not open.
        case idle
        case open
        /// Closed while the app is suspended; ``Scheduler/activate()`` opens again.
        case suspended
        case closing
        case closed
    }

    struct State {
        var configuration: DownloadManager.Configuration
        var phase: Phase
        var store: (any DownloadStore)?
        var vault: any SecretVault
        /// The runs recorded for the next process; `nil` if the list is not kept.
        var ledger: RunLedger?
        var queue: QueueMachine
        var network = NetworkTasks()
        /// The dates at which servers are tried again.
        var times = WallTimes()
        /// The rate limits that the runs of a session share.
        var throttles: [UInt16: Throttle] = [:]
        var wakeTimer: (at: Duration, task: Task<Void, Never>)?
        var pulse: Task<Void, Never>?
        var heartbeats = 0
        weak var dispatcher: DelegateDispatcher?
        /// Set while no new downloads are accepted.
        var isDraining = false
        /// Directories of downloads that were removed from the list with resume data.
        var takenFrom: Set<FilePath> = []
        var handover = HandoverState()
    }

    // allow(state): its facets are in files of their own.
    let state: Mutex<State>
    let engine: EngineProvider
    let monitor: any NetworkMonitor
    let metrics: ManagerMetrics
    let log: UpdateLog
    let traffic = TrafficMeter()
    let registry = LiveRegistry()
    let networkHub = NetworkHub()
    /// Serializes additions, moves and bulk changes; `openLock` serializes opening and closing. The holder waits for
    /// no download's lock.
    let listLock = AsyncLock()
    let openLock = AsyncLock()
    /// Serializes suspending, activating and shutting down; acquired before all other locks.
    let lifeLock = AsyncLock()
    /// Serializes changes of the settings.
    let settingsLock = AsyncLock()
    /// Notifies at the end of a run.
    let updates = AsyncEvent()
    /// Makes the system's session for the manager's identifier; `nil` where there is none.
    let makeSession: @Sendable (BackgroundTransfer) -> (any SystemTransferSession)?

    init(
        configuration: DownloadManager.Configuration, engine: EngineProvider, monitor: any NetworkMonitor,
        system: @escaping @Sendable (BackgroundTransfer) -> (any SystemTransferSession)? = { _ in nil }
    ) {
        makeSession = system
        self.engine = engine
        self.monitor = monitor
        var configuration = configuration
        let factory = configuration.server.metrics ?? MetricsSystem.factory
        configuration.server.metrics = factory
        metrics = ManagerMetrics(factory)
        log = UpdateLog(metrics, of: registry)
        let isKept = configuration.storage.isKept
        state = Mutex(
            State(
                configuration: configuration, phase: isKept ? .idle : .open, store: isKept ? nil : MemoryStore(),
                vault: SecretMemory(),
                queue: QueueMachine(
                    limit: max(1, configuration.maxConcurrentDownloads), session: configuration.storage.identifier)))
        state.withLock { $0.permit(configuration) }
        engine.hostsChanged { [weak self] in self?.hostsChanged() }
    }

    var configuration: DownloadManager.Configuration { state.withLock { $0.configuration } }
    var clock: any EngineClock { engine.clock }
    var environment: EngineEnvironment { engine.environment(for: configuration) }
    /// The store while the list is open.
    var store: (any DownloadStore)? { state.withLock { $0.store } }
    var vault: any SecretVault { state.withLock { $0.vault } }
    /// Set once shutdown has begun; nothing starts any more.
    var isShutDown: Bool { state.withLock { $0.phase == .closing || $0.phase == .closed } }

    static let wasShutDown = DownloadError(.shutDown, ErrorPhrase(.wasShutDown))

    func configure<Failure: Error>(
        _ change: @Sendable (inout DownloadManager.Configuration) throws(Failure) -> Void
    ) async throws(Failure) {
        await settingsLock.acquire()
        defer { settingsLock.release() }
        // Not under the mutex, since `change` may read the manager.
        var new = self.configuration
        try change(&new)
        new.maxConcurrentDownloads = max(1, new.maxConcurrentDownloads)
        let configuration = new
        let isStricter = state.withLock { state in
            let old = state.configuration
            state.configuration = configuration
            state.permit(configuration)
            return old.allowsMeteredNetwork && !configuration.allowsMeteredNetwork
                || old.allowsConstrainedNetwork && !configuration.allowsConstrainedNetwork
        }
        if isStricter { takeBackAllLeases() }
        engine.apply(configuration)
        await engine.readSuffixes()
        monitor.set(configuration.networkSettings)
        await lookAtNetwork(for: [NetworkRule()])
        reschedule()
        showStandings()
    }

    // MARK: Scheduling

    /// What a decision of the queue brings about outside of it.
    private struct Consequences {
        var stops: [(run: Run, reason: Run.Stop)] = []
        /// Those whose time has come.
        var woken: [DownloadID] = []
        /// Those that the network keeps waiting, and why.
        var barred: [(id: DownloadID, reason: Reason)] = []
        /// Those that their servers keep waiting for another reason than was told.
        var told: Set<DownloadID> = []
    }

    /// Starts and stops downloads as the queue decides now.
    func reschedule() {
        let next: Consequences = state.withLock { state in
            guard state.phase == .open else { return Consequences() }
            let now = clock.now()
            lookUpNames(&state)
            let woken = state.queue.wake(at: now)
            let barred = state.queue.newlyBarred().map { (id: $0, reason: state.queue.obstacle(to: $0)) }
            // The settings are large, and are copied only for the first download.
            let book =
                state.queue.activeCount > 0
                ? (engine.started ?? engine.environment(for: state.configuration)).book : nil
            let decision = book.map { state.queue.decide(at: now, hosts: $0) } ?? state.queue.decide(at: now)
            for id in decision.start { launch(id, decision.refused[id], &state) }
            var stops: [(run: Run, reason: Run.Stop)] = decision.stop.compactMap { stop in
                state.queue.run(of: stop.id).map { (run: $0, reason: stop.reason == .network ? .network : .slot) }
            }
            if state.queue.hasRetries {
                // A run that only waits for its next attempt leaves its slot to downloads that can use it.
                let soon = clock.date().addingTimeInterval(1)
                for run in state.queue.contestedRuns() where !run.isStream {
                    if let at = run.retryAt, at > soon { stops.append((run: run, reason: .backOff)) }
                }
                if let book { stops += state.idleRuns(book).map { (run: $0, reason: .backOff) } }
            }
            setWakeTimer(decision.nextWake, &state)
            if state.isDraining { updates.notify() }
            return Consequences(stops: stops, woken: woken, barred: barred, told: decision.told)
        }
        for stop in next.stops { stop.run.stop(stop.reason) }
        if !next.told.isEmpty {
            // Those in memory first: what is told is in them.
            showStandings(of: next.told.count < WaitNews.long ? next.told.compactMap { known($0) } : registry.all)
            log.append(ListChange(changed: next.told))
        }
        if !next.woken.isEmpty {
            log.append(ListChange(changed: Set(next.woken)))
            showStandings(of: next.woken.compactMap { known($0) })
        }
        for (id, reason) in next.barred { happened(.waiting(.network, message: reason), to: id) }
    }

    private func launch(_ id: DownloadID, _ refusal: QueueMachine.HostRefusal?, _ state: inout State) {
        guard let run = state.queue.run(of: id) else { return }
        run.refusal = refusal
        if refusal == nil { run.site = state.queue.site(of: id) }
        let environment = engine.started ?? engine.environment(for: state.configuration)
        let loop = environment.loop()
        // owner: the run, awaited in shutdown.
        run.set(task: Task(executorPreference: loop) { await self.perform(run, id, environment, on: loop) })
        startHeartbeat(&state)
    }

    private func setWakeTimer(_ at: Duration?, _ state: inout State) {
        guard state.wakeTimer?.at != at else { return }
        state.wakeTimer?.task.cancel()
        state.wakeTimer = at.map { at in
            // owner: state.wakeTimer, cancelled when it is replaced and in shutdown.
            let task = Task { [weak self, clock] in
                try? await clock.sleep(until: at)
                guard !Task.isCancelled, let self else { return }
                self.state.withLock { if $0.wakeTimer?.at == at { $0.wakeTimer = nil } }
                self.reschedule()
            }
            return (at, task)
        }
    }

    // MARK: Downloads in memory

    /// The object of a download, created from its row if needed.
    func live(for row: CatalogueRow, secrets: Secrets? = nil) -> LiveDownload {
        state.withLock { state in live(for: row.id, &state) { object(of: row, secrets) } }
    }

    func live(for id: DownloadID, _ state: inout State, make: () -> LiveDownload) -> LiveDownload {
        if let live = registry[id] { return live }
        let live = make()
        if live.current.followsQueue, let now = state.standing(of: id, clock) {
            live.set(state: .waiting(now.reason), after: now.error)
        }
        registry.insert(live)
        if state.phase == .closed { live.close() }
        return live
    }

    /// Creates an object; ``live(for:_:make:)`` registers it.
    func object(of row: CatalogueRow, _ secrets: Secrets?) -> LiveDownload {
        LiveDownload(row, secrets: secrets, registry: registry)
    }

    // MARK: Reporting

    /// An event that happens now and is no end.
    func event(_ told: LocalizedEvent, of id: DownloadID) -> DownloadEvent {
        event(
            told.kind, of: id, date: clock.date().asStored, number: nil, session: known(id)?.session,
            reason: told.reason)
    }

    func event(
        _ kind: DownloadEvent.Kind, of id: DownloadID, date: Date, number: Int64?, session: String?,
        reason: Reason? = nil
    ) -> DownloadEvent {
        DownloadEvent(id: id, date: date, kind: kind, number: number, session: session, reason: reason) {
            [weak self] number in self?.acknowledge(number)
        }
    }

    /// Stores that the app has handled an event, or keeps that in mind while the list is closed.
    private func acknowledge(_ number: Int64) {
        let store: (any DownloadStore)? = state.withLock { state in
            if state.store == nil, state.phase == .suspended { state.handover.acknowledged.append(number) }
            return state.store
        }
        store?.submit([.acknowledge(number)])
    }

    func told(_ id: DownloadID) { log.append(ListChange(changed: [id])) }

    // MARK: The disk

    /// Calls `body` on a file thread, with a file system that is confined to `root`.
    func withFiles<Value: Sendable, Failure: Error>(
        within root: String? = nil, _ body: @escaping @Sendable (any FileSystem) throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await environment.files.run { disk throws(Failure) in try body(disk.fileSystem(within: root)) }
    }
}

extension Scheduler.State {
    /// Applies the limits of a configuration to the queue.
    fileprivate mutating func permit(_ configuration: DownloadManager.Configuration) {
        queue.set(limit: configuration.maxConcurrentDownloads)
        queue.set(sharesSlotsByHost: true)
        queue.set(waitsForServers: configuration.waitsForServers)
        queue.set(
            allowsMetered: configuration.allowsMeteredNetwork,
            allowsConstrained: configuration.allowsConstrainedNetwork)
    }
}

extension ListChange {
    package init(
        added: Set<DownloadID> = [], removed: Set<DownloadID> = [], changed: Set<DownloadID> = [],
        isReordered: Bool = false
    ) {
        self.init()
        self.added = added
        self.removed = removed
        self.changed = changed
        self.isReordered = isReordered
    }

    init(removed: [DownloadID: String]) {
        self.init(removed: Set(removed.keys))
        removedFrom = removed
    }

    init(changed: Set<DownloadID> = [], moved: Set<DownloadID>) {
        self.init(changed: changed, isReordered: !moved.isEmpty)
        self.moved = moved
    }
}

extension LiveDownload {
    /// Creates an object from its stored row.
    convenience init(_ row: CatalogueRow, secrets: Secrets?, registry: LiveRegistry) {
        self.init(
            request: row.request(with: secrets), status: row.status, session: row.session, finished: row.finished,
            addedAt: row.createdAt, endedAt: row.endedAt, registry: registry)
    }
}

extension CatalogueRow {
    /// The status of a download that is not running.
    var status: DownloadStatus {
        var state = state
        switch state {
        case .downloading, .verifying: state = .waiting(.slot)
        case .waiting, .paused, .failed, .completed, .cancelled: break
        }
        return DownloadStatus(
            id: id, state: state, progress: DownloadProgress(completedBytes: completedBytes, totalBytes: totalBytes),
            name: name, path: path, pauseReason: pauseReason, waitError: waitError)
    }
}

/// Progress reports, ten times a second while downloads run.
extension Scheduler {
    private static let interval: Duration = .milliseconds(100)
    /// The interval of storing progress in the catalogue, in ticks.
    private static let heartbeatsPerRecord = 100

    func startHeartbeat() { state.withLock { startHeartbeat(&$0) } }

    func startHeartbeat(_ state: inout State) {
        guard state.pulse == nil, state.queue.occupiedCount > 0, state.phase == .open else { return }
        // owner: state.pulse, cancelled in shutdown; ends when no download is running.
        state.pulse = Task { [weak self, clock] in
            while !Task.isCancelled {
                try? await clock.sleep(for: Self.interval)
                guard let self, self.beat() else { return }
            }
        }
    }

    /// Counts what a run has received since it was counted last.
    func count(_ run: Run, of live: LiveDownload) {
        traffic.received(run.takeReceivedBytes(), for: live.session, at: clock.now())
    }

    private func beat() -> Bool {
        let (running, isRecordDue) = state.withLock { state in
            state.heartbeats += 1
            let running = state.queue.runs.compactMap { id, run in
                registry[id].map { (live: $0, run: run, hasBegun: run.hasBegun) }
            }
            return (running, state.heartbeats % Self.heartbeatsPerRecord == 0)
        }
        let dispatcher = state.withLock { $0.dispatcher }
        for (live, run, hasBegun) in running {
            count(run, of: live)
            live.publish()
            // Report progress only after the start, which a delegate receives first.
            guard let dispatcher, hasBegun, live.current == .downloading else { continue }
            dispatcher.report(live.status.progress, of: live.id)
        }
        if isRecordDue, let store = keptStore {
            store.submit(running.map { live, _, _ in .update(live.id, [.progress(live.status.progress)]) })
        }
        return state.withLock { state in
            guard state.queue.occupiedCount == 0 else { return true }
            state.pulse = nil
            return false
        }
    }
}
