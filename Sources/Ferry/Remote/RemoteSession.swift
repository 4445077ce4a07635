import FerryAPI
import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// One session of the daemon, seen from a process of its app.
///
/// ```
/// DownloadManager ── call ──► joined? ──► HTTP over the socket ──► the daemon
///      ▲                        │ no: it is joined, or started; the call waits, bounded
///      └── LiveDownload, EventHub ◄── its event stream, from the last id that was seen
/// ```
///
/// Invariants: what the daemon says of a download is shown in the order of its revisions, whichever way it came; a
/// numbered event is handed out once in this process, and acknowledged over the socket once the app has handled it; the
/// stream alone says what has ended. Nothing here downloads, and nothing ends with this process but the connection.
/// Locks: a download's own may be taken under this one, never the other way round; neither across a suspension.
final class RemoteSession: Sendable {
    enum Phase: Sendable, Hashable {
        /// Nothing was asked of it yet.
        case idle
        /// The daemon is being looked for: at first, or again.
        case joining
        /// The daemon answers, and its events come.
        case joined
        case closed
    }

    struct State {
        var configuration: DownloadManager.Configuration
        var phase = Phase.idle
        /// It has been joined once: who calls while it is lost waits for it.
        var wasJoined = false
        /// Takes no new downloads.
        var isDraining = false
        /// Keeps the session joined; awaited in ``RemoteSession/shutdown()``.
        var keeper: Task<Void, Never>?
        /// How many attempts to join have failed in a row, and why the last one did.
        var failures = 0
        var failure: DownloadError?
        /// How many calls wait for the daemon.
        var callers = 0
        var directory: String?
        /// The life of the daemon that revisions and ids are of.
        var boot: String?
        var lastEvent: String?
        /// Those that run: somebody may be told of their progress.
        var running: [DownloadID: LiveDownload] = [:]
        /// Those of them that have begun.
        var moving: Set<DownloadID> = []
        var receipts = EventReceipts()
        /// What ended before has been told once.
        var isUpToDate = false
        var isAcknowledging = false
        var network = NetworkSnapshot.assumed.status
        weak var dispatcher: DelegateDispatcher?
    }

    let place: DaemonAddress
    let client: DaemonClient
    let clock: any EngineClock
    let state: Mutex<State>
    let hub = EventHub()
    let list = ListHub()
    let networkHub = NetworkHub()
    /// Changed settings count one after the other.
    let settingsLock = AsyncLock()
    let readers = StaleReads()
    let registry = LiveRegistry()
    /// Rings when the phase has changed, an attempt has failed, or something has ended.
    let updates = AsyncEvent()
    /// Rings when somebody waits for the daemon.
    let asked = AsyncEvent()

    init(_ place: DaemonAddress, _ configuration: DownloadManager.Configuration, clock: any EngineClock) {
        self.place = place
        self.clock = clock
        client = DaemonClient(
            socket: place.socket ?? DaemonSocket.path(), session: place.identifier, wantsHandles: true)
        state = Mutex(State(configuration: configuration))
    }

    var configuration: DownloadManager.Configuration { state.withLock { $0.configuration } }
    var isShutDown: Bool { state.withLock { $0.phase == .closed } }
    static let wasShutDown = DownloadError(.shutDown, ErrorPhrase(.wasShutDown))

    // MARK: Downloads in memory

    func known(_ id: DownloadID) -> LiveDownload? { registry[id] }
    func gone(_ id: DownloadID) -> LiveDownload? { registry.removed(id) }

    /// The object of a download that the daemon has told of, brought up to date. `request` is what was asked for here,
    /// with its secrets.
    func live(for said: ListedDownload, request: DownloadRequest? = nil) -> LiveDownload? {
        guard let snapshot = DownloadSnapshot(said) else { return nil }
        let (live, isNew) = state.withLock { state in
            if let live = registry[said.id] { return (live, false) }
            var whole = request ?? snapshot.request
            whole.id = said.id
            if whole.withoutSecrets != snapshot.request { whole = snapshot.request }
            let live = LiveDownload(
                request: whole, status: snapshot.status, finished: snapshot.finished, readers: readers,
                registry: registry, revision: snapshot.revision)
            registry.insert(live)
            if state.phase == .closed { live.close() }
            follow(live, &state)
            return (live, true)
        }
        if !isNew { show(snapshot, on: live) }
        return live
    }

    /// Shows what the daemon says, unless something newer is shown.
    @discardableResult
    func show(_ snapshot: DownloadSnapshot, on live: LiveDownload) -> Bool {
        guard live.show(snapshot) else { return false }
        state.withLock { follow(live, &$0) }
        return true
    }

    /// What runs is held, so that its progress can be told.
    private func follow(_ live: LiveDownload, _ state: inout State) {
        switch live.current {
        case .downloading, .verifying: state.running[live.id] = live
        case .waiting, .paused, .failed, .completed, .cancelled: state.running[live.id] = nil
        }
    }
}

extension DownloadSnapshot {
    /// What the daemon says of a download; `nil` where it did not say all that a handle shows.
    init?(_ said: ListedDownload) {
        guard let handle = said.handle, let new = handle.request, var request = try? new.request() else { return nil }
        request.id = said.id
        self.init(status: said.status, request: request, finished: handle.finished, revision: handle.revision)
    }
}

extension NewDownload {
    /// The request, to the place that it names. Throws `invalidRequest` for what cannot be meant.
    func request() throws(DownloadError) -> DownloadRequest {
        let destination: DownloadRequest.Destination
        if let path {
            destination = .file(path)
        } else if let part {
            destination = .part(part)
        } else if let directory {
            destination = .directory(directory, name: name.map { .exact($0) } ?? .suggested)
        } else {
            throw DownloadError(.internal, "a download without a place for its file")
        }
        return try request(to: destination)
    }
}
