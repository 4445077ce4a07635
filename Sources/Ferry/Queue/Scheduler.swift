import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// The list of downloads and their runs.
///
/// ```
/// add, resume, retry, network, limit ─► QueuePolicy.decide ─► launch: row, secrets, DownloadDriver.run
///        ▲                                                └─► stop ─┐
///        └────────────── ended: store, state, event ◄───────────────┘
/// ```
///
/// Invariants: durable state is stored before it is reported; the policy alone starts and stops downloads; every run
/// is in `runs` until it has ended and is awaited by ``shutdown()``; a download has at most one run at a time. A user
/// action holds the download's `AsyncLock`.
///
/// Order of async locks: the list's may be acquired while a download's is held, never the other way round. Order of
/// mutexes: a download's may be acquired under this one, never the other way round; none is held across a suspension.
final class Scheduler: Sendable {
    enum Phase: Sendable, Hashable {
        /// Not used yet; the catalogue is not open.
        case idle
        case open
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
        var policy: QueuePolicy
        var runs: [DownloadID: Run] = [:]
        /// Every download of the catalogue; empty if the list is not kept.
        var listed: Set<DownloadID> = []
        /// Downloads waiting for a network whose wait has been reported.
        var toldToWait: Set<DownloadID> = []
        /// Downloads in a bulk change: no objects are created for them until the change is stored. Empty unless
        /// ``Scheduler/listLock`` is held.
        var held: Set<DownloadID> = []
        /// Downloads out of the queue during a change, with the spots to which they return.
        var away: [DownloadID: QueueSpot] = [:]
        /// Network rules of queued downloads, where they differ from the default.
        var rules: [DownloadID: NetworkRule] = [:]
        /// The hosts of queued downloads, with the information which of them are local.
        var hosts = QueuedHosts()
        /// Names that are being resolved in this network.
        var lookups: [String: Task<Void, Never>] = [:]
        /// Downloads that were running when the machine went offline and whose hosts are being resolved; they
        /// continue for a grace period.
        var doubtful: Set<DownloadID> = []
        /// Ends the grace period.
        var doubt: (network: Int, task: Task<Void, Never>)?
        /// Sessions with downloads in this list, and their limits.
        var groups = SessionGroups()
        var network: NetworkSnapshot
        /// The number of snapshots seen; 0 while the network is assumed.
        var networkCount = 0
        var knowsNetwork: Bool { networkCount > 0 }
        var watcher: Task<Void, Never>?
        var alarm: (at: Duration, task: Task<Void, Never>)?
        var pulse: Task<Void, Never>?
        var beats = 0
        /// Downloads to be fetched again although their file exists.
        var renewed: Set<DownloadID> = []
        weak var dispatcher: DelegateDispatcher?
        /// Set while no new downloads are accepted.
        var isDraining = false
        /// Directories of downloads that were removed from the list with resume data.
        var takenFrom: Set<String> = []
    }

    let state: Mutex<State>
    let engine: EngineProvider
    let monitor: any NetworkMonitor
    let hub = EventHub()
    let list = ListHub()
    let readers = StaleReads()
    let registry = LiveRegistry()
    let networkHub = NetworkHub()
    /// Serializes additions, moves and bulk changes; `openLock` serializes opening and closing. The holder waits for
    /// no download's lock.
    let listLock = AsyncLock()
    let openLock = AsyncLock()
    /// Serializes changes of the settings.
    let settingsLock = AsyncLock()
    /// Notifies at the end of a run.
    let updates = AsyncEvent()

    init(configuration: DownloadManager.Configuration, engine: EngineProvider, monitor: any NetworkMonitor) {
        self.engine = engine
        self.monitor = monitor
        let isKept = configuration.storage.isKept
        state = Mutex(
            State(
                configuration: configuration, phase: isKept ? .idle : .open, store: isKept ? nil : MemoryStore(),
                vault: SecretMemory(), policy: QueuePolicy(limit: max(1, configuration.maxConcurrentDownloads)),
                network: .assumed))
    }

    var configuration: DownloadManager.Configuration { state.withLock { $0.configuration } }
    var clock: any EngineClock { engine.clock }
    /// Set once shutdown has begun; nothing starts any more.
    var isShutDown: Bool { state.withLock { $0.phase == .closing || $0.phase == .closed } }

    static let wasShutDown = DownloadError(.shutDown, ErrorPhrase(.wasShutDown))

    func configure(_ change: @Sendable (inout DownloadManager.Configuration) -> Void) async {
        await settingsLock.acquire()
        defer { settingsLock.release() }
        // Not under the mutex, since `change` may read the manager.
        var new = self.configuration
        change(&new)
        new.maxConcurrentDownloads = max(1, new.maxConcurrentDownloads)
        let configuration = new
        state.withLock { state in
            state.configuration = configuration
            state.policy.set(limit: configuration.maxConcurrentDownloads)
        }
        engine.apply(configuration)
        monitor.set(configuration.networkSettings)
        await lookAtNetwork(for: [NetworkRule()])
        applyNetworkRules()
        reschedule()
        showStandings()
    }

    // MARK: Scheduling

    /// Starts and stops downloads as the policy decides now.
    func reschedule() {
        let (stops, woken, barred): ([(Run, Run.Stop)], [DownloadID], [DownloadID]) = state.withLock { state in
            guard state.phase == .open else { return ([], [], []) }
            let now = clock.now()
            lookUpNames(&state)
            let woken = state.policy.wake(at: now)
            let barred = state.newlyBarred()
            let decision = state.policy.decide(at: now)
            for id in decision.start { launch(id, &state) }
            var stops: [(Run, Run.Stop)] = decision.stop.compactMap { stop in
                state.runs[stop.id].map { ($0, stop.reason == .network ? .network : .slot) }
            }
            if state.policy.hasReady {
                // A run that only waits for its next attempt leaves its slot to downloads that can use it.
                let soon = clock.date().addingTimeInterval(1)
                for run in state.runs.values where !run.isStream {
                    if let at = run.retryAt, at > soon { stops.append((run, .backOff)) }
                }
            }
            setAlarm(decision.nextWake, &state)
            if state.isDraining { updates.notify() }
            return (stops, woken, barred)
        }
        for (run, stop) in stops { run.stop(stop) }
        if !woken.isEmpty {
            list.tell { ListChange(changed: Set(woken)) }
            showStandings(of: woken.compactMap { known($0) })
        }
        for id in barred { happened(.waiting(.network, message: Reason(.noNetworkAllowed)), to: id) }
    }

    private func launch(_ id: DownloadID, _ state: inout State) {
        let run = Run()
        let environment = engine.environment(for: state.configuration)
        let loop = environment.light()
        state.runs[id] = run
        // owner: state.runs, awaited in shutdown.
        run.set(task: Task(executorPreference: loop) { await self.perform(run, id, environment, on: loop) })
        startPulse(&state)
    }

    private func setAlarm(_ at: Duration?, _ state: inout State) {
        guard state.alarm?.at != at else { return }
        state.alarm?.task.cancel()
        state.alarm = at.map { at in
            // owner: state.alarm, cancelled when it is replaced and in shutdown.
            let task = Task { [weak self, clock] in
                // Read the clock here, since the task may start late.
                try? await clock.sleep(for: max(.zero, at - clock.now()))
                guard !Task.isCancelled, let self else { return }
                self.state.withLock { if $0.alarm?.at == at { $0.alarm = nil } }
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
        if live.current.followsQueue, let reason = state.standing(of: id) { live.set(state: .waiting(reason)) }
        registry.insert(live)
        if state.phase == .closed { live.close() }
        return live
    }

    /// Creates an object; ``live(for:_:make:)`` registers it.
    func object(of row: CatalogueRow, _ secrets: Secrets?) -> LiveDownload {
        LiveDownload(row, secrets: secrets, readers: readers, registry: registry)
    }

    func known(_ id: DownloadID) -> LiveDownload? { registry[id] }
    func gone(_ id: DownloadID) -> LiveDownload? { registry.removed(id) }

    // MARK: Reporting

    func send(_ kind: DownloadEvent.Kind, of id: DownloadID, number: Int64? = nil) {
        hub.send(event(kind, of: id, date: clock.date(), number: number))
    }

    func event(_ kind: DownloadEvent.Kind, of id: DownloadID, date: Date, number: Int64?) -> DownloadEvent {
        event(kind, of: id, date: date, number: number, session: known(id)?.session)
    }

    func event(
        _ kind: DownloadEvent.Kind, of id: DownloadID, date: Date, number: Int64?, session: String?,
        reason: Reason? = nil
    ) -> DownloadEvent {
        DownloadEvent(id: id, date: date, kind: kind, number: number, session: session, reason: reason) {
            [weak self] number in
            self?.state.withLock { $0.store }?.submit([.acknowledge(number)])
        }
    }

    func told(_ id: DownloadID) { list.tell { ListChange(changed: [id]) } }
}

extension ListChange {
    init(
        added: Set<DownloadID> = [], removed: Set<DownloadID> = [], changed: Set<DownloadID> = [],
        isReordered: Bool = false
    ) {
        self.init()
        self.added = added
        self.removed = removed
        self.changed = changed
        self.isReordered = isReordered
    }
}

extension LiveDownload {
    /// Creates an object from its stored row.
    convenience init(_ row: CatalogueRow, secrets: Secrets?, readers: StaleReads, registry: LiveRegistry) {
        self.init(
            request: row.request(with: secrets), status: row.status, session: row.session, finished: row.finished,
            readers: readers, registry: registry)
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
            name: name, path: path, pauseReason: pauseReason)
    }
}
