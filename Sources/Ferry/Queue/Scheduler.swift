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
/// add, resume, retry, network, limit ─► DownloadQueue.decide ─► launch: row, secrets, DownloadDriver.run
///        ▲                                                └─► stop ─┐
///        └────────────── ended: store, state, event ◄───────────────┘
/// ```
///
/// The scheduler holds the settings, and connects the owners of all other state: ``DownloadQueue`` (entries, runs, phase),
/// ``ListStorage`` (store, secrets, ledger), ``NetworkTasks`` and ``PageRetries``, ``WakeTimer`` and ``Heartbeat``,
/// ``HandoverState``, ``UpdateLog``.
///
/// Invariants: every listed download has one entry in the queue. Only the queue starts downloads; changes, suspension and
/// shutdown can stop them too. Every run is in its download's entry until it has ended, and is awaited by ``shutdown()``. User
/// actions are committed before they are reported. States of a run are submitted before they are reported. Its end is reported
/// even if the list refuses it, and is stored once the list can be written again.
///
/// A user action on one download holds the download's `AsyncLock`; additions, moves and batches hold the list's lock. An action
/// that needs the download without a run executes in ``holding(_:_:_:)``.
///
/// Order of async locks: `lifeLock`, a download's lock, `openLock`, `listLock`. The list is never opened while a download's lock is
/// held, but a change may acquire `openLock` to check the network. Order of mutexes: that of ``NetworkTasks``, that of the queue,
/// then any other. No mutex is held across a suspension point.
final class Scheduler: Sendable {
    private let settings: Mutex<DownloadManager.Configuration>
    /// Whether the list is kept on disk.
    let isKept: Bool
    let queue: DownloadQueue
    let storage: ListStorage
    let handover = HandoverState()
    let networkTasks = NetworkTasks()
    let pageRetries = PageRetries()
    let wakeTimer: WakeTimer
    let heartbeat: Heartbeat
    let takenDirectories = TakenDirectories()
    let smallFetches: SmallFetches
    let firstExchanges = FirstExchanges()
    let engine: EngineProvider
    let monitor: any NetworkMonitor
    let metrics: ManagerMetrics
    let log: UpdateLog
    let traffic = TrafficMeter()
    let registry = LiveRegistry()
    let networkHub = NetworkHub()
    /// Serializes suspending, activating and shutting down.
    let lifeLock = AsyncLock()
    /// Serializes opening and closing.
    let openLock = AsyncLock()
    /// Serializes additions, bulk changes, and all changes of places, each until both the store and the queue reflect it;
    /// shared by changes that queue single downloads again.
    let listLock = AsyncLock()
    /// Serializes changes of the settings.
    let settingsLock = AsyncLock()
    /// Notifies at the end of a run.
    let updates = AsyncEvent()
    /// Makes the system's session for the manager's identifier; `nil` if the system has none.
    let makeSession: @Sendable (BackgroundTransfer) -> (any SystemTransferSession)?

    init(
        configuration: DownloadManager.Configuration, engine: EngineProvider, monitor: any NetworkMonitor,
        system: @escaping @Sendable (BackgroundTransfer) -> (any SystemTransferSession)? = { _ in nil }
    ) {
        makeSession = system
        self.engine = engine
        self.monitor = monitor
        var configuration = configuration.bounded
        let factory = configuration.server.metrics ?? MetricsSystem.factory
        configuration.server.metrics = factory
        metrics = ManagerMetrics(factory)
        log = UpdateLog(metrics, of: registry)
        isKept = configuration.storage.isKept
        queue = DownloadQueue(configuration, isOpen: !isKept, registry: registry, clock: engine.clock)
        storage = ListStorage(isKept: isKept)
        wakeTimer = WakeTimer(engine.clock)
        heartbeat = Heartbeat(engine.clock)
        smallFetches = SmallFetches(engine.clock)
        settings = Mutex(configuration)
        engine.hostsChanged { [weak self] in self?.hostsChanged() }
    }

    var configuration: DownloadManager.Configuration { settings.withLock { $0 } }
    var watchesNetwork: Bool { settings.withLock { $0.watchesNetwork } }
    /// Whether the system may continue downloads while the app is suspended.
    var handsOver: Bool { settings.withLock { $0.backgroundTransfer != nil } }
    /// The settings for a small file without a list entry; `nil` if it must wait for a permitted network.
    func settingsOfSmall(_ request: DownloadRequest) -> DriverSettings? {
        settings.withLock { $0.forbids(some: request.network) ? nil : $0.driverSettings }
    }
    var clock: any EngineClock { engine.clock }
    /// The engine's environment. The settings are large, and are copied only for the first download.
    var environment: EngineEnvironment { engine.started ?? engine.environment(for: configuration) }
    /// The store while the list is open.
    var store: (any DownloadStore)? { storage.store }
    /// The store while the list is open, if the list is kept on disk.
    var keptStore: (any DownloadStore)? { isKept ? storage.store : nil }
    var vault: any SecretVault { storage.vault }
    /// Whether the shutdown has begun; afterwards no download starts.
    var isShutDown: Bool {
        switch queue.phase {
        case .closing, .closed: true
        case .idle, .open, .suspended: false
        }
    }

    static let wasShutDown = DownloadError(.shutDown, ErrorPhrase(.wasShutDown))

    func configure<Failure: Error>(
        _ change: @Sendable (inout DownloadManager.Configuration) throws(Failure) -> Void
    ) async throws(Failure) {
        await settingsLock.acquire()
        defer { settingsLock.release() }
        // Call `change` without holding the mutex, because it may read the manager.
        var new = self.configuration
        try change(&new)
        let configuration = new.bounded
        let old = settings.withLock { settings in
            defer { settings = configuration }
            return settings
        }
        queue.permit(configuration)
        if old.allowsMeteredNetwork && !configuration.allowsMeteredNetwork
            || old.allowsConstrainedNetwork && !configuration.allowsConstrainedNetwork
        {
            takeBackAllLeases()
        }
        engine.apply(configuration)
        await engine.readSuffixes()
        monitor.set(configuration.networkSettings)
        await lookAtNetwork(for: [NetworkRule()])
        if old.retriesFailedAfter != configuration.retriesFailedAfter { await renewRetries() }
        reschedule()
        showStandings()
    }

    // MARK: Scheduling

    /// Starts and stops downloads as the queue decides.
    func reschedule() {
        guard let next = queue.decide(book: { environment.book }, launch: launch) else { return }
        if let wake = next.wake { setWakeTimer(wake) }
        if next.hasStarts { beat() }
        if next.hasNames { lookUpNames() }
        if next.isDraining { updates.notify() }
        for stop in next.stops { stop.run.stop(stop.reason) }
        if !next.told.isEmpty {
            // Update the objects in memory first, because they contain the reported reasons.
            showStandings(of: next.told.count < WaitNews.long ? next.told.compactMap { known($0) } : registry.all)
            log.append(ListChange(changed: next.told))
        }
        if !next.woken.isEmpty {
            log.append(ListChange(changed: Set(next.woken)))
            showStandings(of: next.woken.compactMap { known($0) })
        }
        for (id, reason) in next.barred { happened(.waiting(.network, message: reason), to: id) }
    }

    private func launch(_ id: DownloadID, _ run: Run) {
        let environment = environment
        let loop = environment.loop()
        // owner: the run, awaited in shutdown.
        run.set(task: Task(executorPreference: loop) { await self.perform(run, id, environment, on: loop) })
    }

    private func setWakeTimer(_ setting: WakeTimer.Setting) {
        wakeTimer.set(setting) { [weak self] time in
            guard let self else { return }
            self.queue.woke(at: time)
            self.reschedule()
        }
    }

    // MARK: Reporting

    /// An event at the current time that is not an end.
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
            [weak self] number in self?.storage.acknowledge(number)
        }
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
            name: name, path: path, pauseReason: pauseReason, waitError: waitError,
            retryAt: state.isFailed && retryAt != .never ? retryAt : nil)
    }
}

/// Progress reports, ten times a second while downloads run.
extension Scheduler {
    func startHeartbeat() { if queue.isBusy { beat() } }

    private func beat() { heartbeat.start { [weak self] in self?.report($0) ?? false } }

    /// Counts the bytes that a run has received since the last count.
    func count(_ run: Run, of live: LiveDownload) {
        traffic.received(run.takeReceivedBytes(), for: live.session, at: clock.now())
    }

    /// Reports the progress of the running downloads. Returns whether any download is still running.
    private func report(_ beat: Heartbeat.Beat) -> Bool {
        let running = queue.running
        for (live, run) in running {
            let hasBegun = run.hasBegun
            count(run, of: live)
            live.publish()
            // Report progress only after the start, because a delegate receives the start first.
            guard let dispatcher = beat.dispatcher, hasBegun, live.current == .downloading else { continue }
            dispatcher.report(live.status.progress, of: live.id)
        }
        if beat.isRecordDue, let store = keptStore {
            store.submit(running.map { live, _ in .update(live.id, [.progress(live.status.progress)]) })
        }
        return queue.isBusy
    }
}
