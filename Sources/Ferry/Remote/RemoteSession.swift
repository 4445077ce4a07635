import FerryAPI
import FerryCore
import FerryEngine
import Synchronization

/// One session of the daemon, as seen by a process of its app.
///
/// ```
/// DownloadManager ── call ──► joined? ──► DaemonLink ──► the daemon
///      ▲                        │ no: connect or start the daemon; the call waits, bounded
///      └── LiveDownload, EventHub ◄── event stream, resumed after the last received id
/// ```
///
/// Invariants: what is shown of a download is the newest that a response or an event has told, by its position in the
/// daemon's log; a numbered event is delivered once in this process, and acknowledged over the socket once the app has handled it;
/// only the stream reports ends. Nothing is downloaded here, and only the connection ends with this process.
///
/// Order of mutexes: a download's may be acquired under this one, never the other way round; none is held across a
/// suspension.
final class RemoteSession: Sendable {
    enum Phase: Sendable, Hashable {
        /// Not used yet.
        case idle
        /// Connecting to the daemon, at first or again.
        case joining
        /// Connected, with an open event stream.
        case joined
        case closed
    }

    struct State {
        var configuration: DownloadManager.Configuration
        var phase = Phase.idle
        /// Whether the session was joined once; calls then wait for a lost daemon.
        var wasJoined = false
        /// Set while no new downloads are accepted.
        var isDraining = false
        /// Keeps the session joined; awaited in ``RemoteSession/shutdown()``.
        var keeper: Task<Void, Never>?
        var failures = JoinFailures()
        /// The number of calls that wait for the daemon.
        var callers = 0
        var directory: String?
        var stream = StreamPosition()
        var running = RunningDownloads()
        var passing = PassingUpdates()
        var receipts = EventReceipts()
        var network = NetworkSnapshot.assumed.status
        weak var dispatcher: DelegateDispatcher?
    }

    /// The failed attempts to join since the last one that succeeded.
    struct JoinFailures {
        private(set) var count = 0
        private(set) var last: DownloadError?

        mutating func add(_ error: DownloadError) {
            count += 1
            last = error
        }
    }

    /// How far the event stream of which daemon was read.
    struct StreamPosition {
        /// The daemon instance to which positions of the log and event ids belong.
        private(set) var boot: String?
        private var lastEvent: String?
        /// Whether the backlog was delivered.
        private(set) var isUpToDate = false

        mutating func joined(_ boot: String) { self.boot = boot }
        mutating func received(_ event: String) { lastEvent = event }
        mutating func backlogEnded() { isUpToDate = true }

        /// The next stream begins with a snapshot.
        mutating func forget() { lastEvent = nil }

        /// Returns the event after which a stream of this instance goes on: only after a complete backlog, as an
        /// interrupted one is sent again from the beginning.
        func resumption(of boot: String) -> String? { self.boot == boot && isUpToDate ? lastEvent : nil }
    }

    /// The running downloads, retained so that their progress can be reported.
    struct RunningDownloads {
        private var all: [DownloadID: LiveDownload] = [:]
        /// Those that have reported their start.
        private(set) var begun: Set<DownloadID> = []

        /// Adds a download that runs, and removes one that does not.
        mutating func follow(_ live: LiveDownload) {
            switch live.current {
            case .downloading, .verifying: all[live.id] = live
            case .waiting, .paused, .failed, .completed, .cancelled: all[live.id] = nil
            }
        }

        func contains(_ id: DownloadID) -> Bool { all[id] != nil }
        mutating func began(_ id: DownloadID) { begun.insert(id) }
        mutating func halted(_ id: DownloadID) { begun.remove(id) }

        mutating func remove(_ id: DownloadID) {
            all[id] = nil
            begun.remove(id)
        }
    }

    let place: DaemonAddress
    let link: DaemonLink
    let clock: any EngineClock
    // allow(state): its facets are in files of their own.
    let state: Mutex<State>
    let log = UpdateLog()
    let networkHub = NetworkHub()
    /// Serializes changes of the settings.
    let settingsLock = AsyncLock()
    let registry = LiveRegistry()
    /// Notifies when the phase has changed, an attempt has failed, or a download has ended.
    let updates = AsyncEvent()

    init(_ place: DaemonAddress, _ configuration: DownloadManager.Configuration, clock: any EngineClock) {
        self.place = place
        self.clock = clock
        link = DaemonLink(place, wantsHandles: true, logger: configuration.logger, clock: clock)
        state = Mutex(State(configuration: configuration))
    }

    var configuration: DownloadManager.Configuration { state.withLock { $0.configuration } }
    var isShutDown: Bool { state.withLock { $0.phase == .closed } }
    static let wasShutDown = DownloadError(.shutDown, ErrorPhrase(.wasShutDown))

    // MARK: Downloads in memory

    /// The object of a download in a response or event, updated to it, and whether it was created now. It is closed if
    /// the download has left the list since. `request` is the request of this process, with its secrets.
    ///
    /// Throws `daemonUnavailable` if the daemon has left out what a handle shows.
    @discardableResult
    func live(
        for said: ListedDownload, request: DownloadRequest? = nil
    ) throws(DownloadError) -> (live: LiveDownload, isNew: Bool) {
        let (live, isNew, isGone) = try state.withLock { (state) throws(DownloadError) in
            if let live = registry[said.id] { return (live, false, false) }
            // The stream may have told something newer while the response was on its way.
            let (newest, isGone) = state.passing.newest(said)
            guard let snapshot = DownloadSnapshot(newest) else {
                throw Self.unreadable("a download without its request")
            }
            var whole = request ?? snapshot.request
            whole.id = said.id
            if whole.withoutSecrets != snapshot.request { whole = snapshot.request }
            let live = LiveDownload(
                request: whole, status: snapshot.status, finished: snapshot.finished,
                registry: registry, position: newest.asOf ?? 0)
            registry.insert(live)
            if isGone { registry.remove(said.id) } else { state.running.follow(live) }
            return (live, true, isGone || state.phase == .closed)
        }
        if isGone { live.close() }
        if !isNew { show(said, on: live) }
        return (live, isNew)
    }

    /// Begins to keep what the stream tells, for the answer of a call.
    func callBegan() { state.withLock { $0.passing.callBegan() } }
    func callEnded() { state.withLock { $0.passing.callEnded() } }

    /// Applies what the daemon tells of a download, unless something newer is shown.
    func show(_ said: ListedDownload, on live: LiveDownload) {
        guard let snapshot = DownloadSnapshot(said), live.show(snapshot, asOf: said.asOf ?? 0) else { return }
        state.withLock { $0.running.follow(live) }
    }
}

/// What the stream tells while calls are being answered, for the downloads that have no object yet: an answer may be
/// older. Pure.
struct PassingUpdates: Sendable {
    private enum Told {
        case row(ListedDownload)
        case removed(asOf: UInt64)
    }
    private var calls = 0
    private var told: [DownloadID: Told] = [:]
    /// Answers from before this position may be older than updates that were lost.
    private var lostBefore: UInt64 = 0

    mutating func callBegan() { calls += 1 }

    mutating func callEnded() {
        calls -= 1
        if calls == 0 { (told, lostBefore) = ([:], 0) }
    }

    mutating func note(_ said: ListedDownload) { if calls > 0 { told[said.id] = .row(said) } }

    mutating func note(removed ids: [DownloadID], asOf position: UInt64) {
        if calls > 0 { for id in ids { told[id] = .removed(asOf: position) } }
    }

    /// Notes that updates before this position may have been missed.
    mutating func lost(before position: UInt64) { if calls > 0 { lostBefore = max(lostBefore, position) } }

    /// Forgets what was told, since the daemon's log has begun anew; answers that are on their way may be of the old one.
    mutating func beginAnew() { if calls > 0 { (told, lostBefore) = ([:], .max) } }

    /// The newer one of an answer and what was told meanwhile, and whether the download has left the list since.
    func newest(_ answer: ListedDownload) -> (said: ListedDownload, isGone: Bool) {
        let position = answer.asOf ?? 0
        switch told[answer.id] {
        case .row(let said) where said.asOf ?? 0 > position: return (said, false)
        case .removed(let left): return (answer, left > position)
        case .row, nil: return (answer, false)
        }
    }

    /// Whether a download must be read again, since updates after the answer were lost.
    func isDoubtful(_ answer: ListedDownload) -> Bool { answer.asOf ?? 0 < lostBefore }
}

extension DownloadSnapshot {
    /// The daemon's snapshot of a download; `nil` if it lacks fields that a handle shows.
    init?(_ said: ListedDownload) {
        guard let handle = said.handle, var request = handle.request else { return nil }
        request.id = said.id
        self.init(status: said.status, request: request, finished: handle.finished)
    }
}
