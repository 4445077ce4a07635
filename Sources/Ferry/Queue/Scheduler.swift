import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// Which downloads there are, who runs and who waits.
///
/// ```
/// add, resume, retry, network, limit ─► QueuePolicy.decide ─► launch: row, secrets, DownloadDriver.run
///        ▲                                                └─► stop ─┐
///        └────────────── ended: store, state, event ◄───────────────┘
/// ```
///
/// Invariants: everything that lasts is in the store before it is told; the policy alone decides who starts and who
/// is stopped; every run is in `runs` until it has ended and is awaited by ``shutdown()``; a download runs at most
/// once at a time. What a user does with one download takes that download's turn.
/// Turns: the list's may be taken in a download's own, never the other way round.
/// Locks: a download's own may be taken under this one, never the other way round; neither across a suspension.
final class Scheduler: Sendable {
    enum Phase: Sendable, Hashable {
        /// Nothing was asked of it yet: the catalogue is not open.
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
        /// Who runs, for the next process; `nil` where there is no list that it could go on with.
        var ledger: RunLedger?
        var policy: QueuePolicy
        var runs: [DownloadID: Run] = [:]
        /// Every download of the catalogue; empty where there is none.
        var listed: Set<DownloadID> = []
        /// Those that wait for the network, and of which that was told.
        var toldToWait: Set<DownloadID> = []
        /// Downloads that are being changed together: until that is in the store nobody makes an object of them. Empty
        /// unless somebody has ``Scheduler/listLock`` for it.
        var held: Set<DownloadID> = []
        /// Downloads that are out of the queue while something of them is changed, and where they come back.
        var away: [DownloadID: QueueSpot] = [:]
        /// Queued downloads whose network rule says something of its own.
        var rules: [DownloadID: NetworkRule] = [:]
        /// The hosts of queued downloads: which of them need no way to the outside.
        var hosts = QueuedHosts()
        /// Names that are being looked up in this network.
        var lookups: [String: Task<Void, Never>] = [:]
        /// Those that ran when the way to the outside went, and whose hosts are being looked up: they are let run for a moment.
        var doubtful: Set<DownloadID> = []
        /// Ends that moment.
        var doubt: (network: Int, task: Task<Void, Never>)?
        /// Sessions that have downloads here, and what they allow themselves.
        var groups = SessionGroups()
        var network: NetworkSnapshot
        /// How many were seen; 0 while it is only assumed.
        var networkCount = 0
        var knowsNetwork: Bool { networkCount > 0 }
        var watcher: Task<Void, Never>?
        var alarm: (at: Duration, task: Task<Void, Never>)?
        var pulse: Task<Void, Never>?
        var beats = 0
        /// Those that are to be fetched anew although their file is there.
        var renewed: Set<DownloadID> = []
        weak var dispatcher: DelegateDispatcher?
        /// No new downloads are taken.
        var isDraining = false
        /// The directories of downloads that were taken off the list with resume data.
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
    /// Additions, moves and changes of many happen one after the other; so do opening and closing. Who has it waits for no
    /// download's turn.
    let listLock = AsyncLock()
    let openLock = AsyncLock()
    /// Changed settings count one after the other.
    let settingsLock = AsyncLock()
    /// Rings when a run has ended.
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
    /// Nothing begins any more.
    var isShutDown: Bool { state.withLock { $0.phase == .closing || $0.phase == .closed } }

    static let wasShutDown = DownloadError(.shutDown, ErrorPhrase(.wasShutDown))

    func configure(_ change: @Sendable (inout DownloadManager.Configuration) -> Void) async {
        await settingsLock.acquire()
        defer { settingsLock.release() }
        // Not under the lock: it may look at the manager.
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

    // MARK: Who runs

    /// Asks the policy who starts and who stops, now.
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
                // Who only waits for his next attempt leaves his slot to those who could use it.
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
            // owner: state.alarm, cancelled when it is set anew and in shutdown.
            let task = Task { [weak self, clock] in
                // Asked now: the task may start late.
                try? await clock.sleep(for: max(.zero, at - clock.now()))
                guard !Task.isCancelled, let self else { return }
                self.state.withLock { if $0.alarm?.at == at { $0.alarm = nil } }
                self.reschedule()
            }
            return (at, task)
        }
    }

    // MARK: Downloads in memory

    /// The object of a download, made from its row when there is none.
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

    /// A new object; ``live(for:_:make:)`` makes it known.
    func object(of row: CatalogueRow, _ secrets: Secrets?) -> LiveDownload {
        LiveDownload(row, secrets: secrets, readers: readers, registry: registry)
    }

    func known(_ id: DownloadID) -> LiveDownload? { registry[id] }
    func gone(_ id: DownloadID) -> LiveDownload? { registry.removed(id) }

    // MARK: Telling

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
    /// What the store knows of it.
    convenience init(_ row: CatalogueRow, secrets: Secrets?, readers: StaleReads, registry: LiveRegistry) {
        self.init(
            request: row.request(with: secrets), status: row.status, session: row.session, finished: row.finished,
            readers: readers, registry: registry)
    }
}

extension CatalogueRow {
    /// Where it stands while it does not run.
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
