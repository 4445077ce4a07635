import Ferry
import FerryAPI
import FerryCore
import FerryEngine
import Logging
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One session of the daemon, as seen by a process of the app.
///
/// ```
/// DownloadManager ── call ──► joined? ──► DaemonLink ──► the daemon
///      ▲                        │ no: connect or start the daemon; the call waits, bounded
///      └── LiveDownload, EventHub ◄── event stream, resumed after the last received id
/// ```
///
/// Invariants: the displayed state of a download is the newest that a response or an event has reported, by its position in the
/// daemon's log. A numbered event is delivered once in this process, and acknowledged over the socket once the app has handled
/// it. Only the stream reports that downloads have ended. Nothing is downloaded in this process, and only the connection ends
/// with it.
///
/// Order of mutexes: the mutex of a download may be acquired while the mutex of the session is held, never the reverse; no
/// mutex is held across a suspension.
final class RemoteSession: Sendable {
    enum Phase: Sendable, Hashable {
        /// Not used yet.
        case idle
        /// Connecting to the daemon, for the first time or again.
        case joining
        /// Connected, with an open event stream.
        case joined
        case closed
    }

    private struct State {
        var configuration: DownloadManager.Configuration
        var phase = Phase.idle
        /// Whether the session has ever been joined; calls then wait for a lost daemon.
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

    /// The failed attempts to join since the last successful one.
    private struct JoinFailures {
        private(set) var count = 0
        private(set) var last: DownloadError?

        mutating func add(_ error: DownloadError) {
            count += 1
            last = error
        }
    }

    /// The daemon instance of the event stream, and the position up to which the stream was read.
    private struct StreamPosition {
        /// The daemon instance that positions in the log and event ids belong to.
        private(set) var boot: String?
        private var lastEvent: String?
        /// Whether the backlog was delivered.
        private(set) var isUpToDate = false

        mutating func joined(_ boot: String) { self.boot = boot }
        mutating func received(_ event: String) { lastEvent = event }
        mutating func backlogEnded() { isUpToDate = true }

        /// Makes the next stream start with a snapshot.
        mutating func forget() { lastEvent = nil }

        /// Returns the event after which a stream of this instance resumes. The result is `nil` until a backlog is complete,
        /// because an interrupted backlog is sent again from the beginning.
        func resumption(of boot: String) -> String? { self.boot == boot && isUpToDate ? lastEvent : nil }
    }

    /// The running downloads, retained so that their progress can be reported.
    private struct RunningDownloads {
        private var all: [DownloadID: LiveDownload] = [:]
        /// The downloads whose start has been reported.
        private(set) var begun: Set<DownloadID> = []

        /// Adds the download if it is running, and removes it otherwise.
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
    private let state: Mutex<State>
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

    /// Returns the object of the download that a response or event describes, updated from that description, and whether the
    /// object is new. The object is closed if the download has since left the list. `request` is the request of this process,
    /// with its secrets.
    ///
    /// Throws `daemonUnavailable` if the daemon has omitted fields that a handle shows.
    @discardableResult
    func live(
        for said: ListedDownload, request: DownloadRequest? = nil
    ) throws(DownloadError) -> (live: LiveDownload, isNew: Bool) {
        let (live, isNew, isGone) = try state.withLock { (state) throws(DownloadError) in
            if let live = registry[said.id] { return (live, false, false) }
            // The stream may have delivered a newer state while the response was in transit.
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

    /// Starts to record the stream's updates for the response to a call.
    private func callBegan() { state.withLock { $0.passing.callBegan() } }
    private func callEnded() { state.withLock { $0.passing.callEnded() } }

    /// Applies the daemon's description of a download, unless a newer one is shown.
    func show(_ said: ListedDownload, on live: LiveDownload) {
        guard let snapshot = DownloadSnapshot(said), live.show(snapshot, asOf: said.asOf ?? 0) else { return }
        state.withLock { $0.running.follow(live) }
    }
}

/// Joining the session, and rejoining it after the daemon was lost.
extension RemoteSession: EventFollower {
    /// Starts joining, unless joining has already started.
    private func beginJoining() {
        state.withLock { state in
            guard state.phase == .idle else { return }
            state.phase = .joining
            // owner: state.keeper, cancelled and awaited in shutdown.
            state.keeper = Task { await self.link.follow(self) }
        }
    }

    package func open(mayStart: Bool) async throws(DownloadError) -> EventReader {
        let stream = try await join(mayStart: mayStart)
        updates.notify()
        acknowledge()
        return stream
    }

    package func isToReopen(after failure: DownloadError?) -> Bool {
        state.withLock { state in
            if let failure {
                state.failures.add(failure)
            } else if state.phase == .joined {
                state.phase = .joining
            }
        }
        updates.notify()
        return true
    }

    package var needsDaemon: Bool { state.withLock { $0.callers > 0 } }

    private func join(mayStart: Bool) async throws(DownloadError) -> EventReader {
        let greeting = try await link.reach(mayStart: mayStart) { () async throws(DaemonFailure) in
            try await link.greet()
        }
        let registration = SessionRegistration(
            identifier: place.identifier, directory: place.directory, launchCommand: place.launchCommand)
        let session = try await link.ask(.attach, json: registration, as: SessionBody.self)
        let last = state.withLock { $0.stream.resumption(of: greeting.boot) }
        // The snapshot is requested without downloads, because they would lack the fields of handles. ``lookAround()`` reads
        // the downloads that are needed.
        let stream = try await link.events(after: last, limit: 0)
        return try state.withLock { (state) throws(DownloadError) in
            guard state.phase != .closed else { throw Self.wasShutDown }
            if state.stream.boot != greeting.boot {
                // A new daemon instance has a new log, so accept any position.
                for live in registry.all { live.forgetPosition() }
                state.passing.beginAnew()
            }
            state.directory = session.directory
            state.stream.joined(greeting.boot)
            state.phase = .joined
            state.wasJoined = true
            state.failures = JoinFailures()
            return stream
        }
    }

    /// Reads the running downloads, and those with handles, again after events were missed.
    private func lookAround() async throws(DaemonFailure) {
        state.withLock { $0.running = RunningDownloads() }
        let running = try await link.send(.list([("state", "downloading,verifying")]), as: DownloadPage.self)
        for said in running.items {
            guard let live = try? live(for: said).live else { continue }
            // The name is set with the server's first response, so the start has been reported.
            let hasBegun = live.status.path != nil
            state.withLock { if hasBegun, $0.running.contains(live.id) { $0.running.began(live.id) } }
        }
        try await lookAtHeld()
    }

    /// Updates all downloads with handles.
    func lookAtHeld() async throws(DaemonFailure) {
        let held = registry.all.filter { !$0.isClosed }
        if held.count > Self.mostAlone { return try await lookAtAll(held) }
        for live in held { try await look(at: live) }
    }

    /// The maximum number of downloads that are requested one by one; for more, the list is read.
    private static let mostAlone = 100

    private func lookAtAll(_ held: [LiveDownload]) async throws(DaemonFailure) {
        var left = Dictionary(held.map { ($0.id, $0) }) { first, _ in first }
        for said in try await link.send(.list(), as: DownloadPage.self).items {
            guard let live = left.removeValue(forKey: said.id) else { continue }
            show(said, on: live)
        }
        // Downloads of other sessions, and downloads that have since been removed.
        for live in left.values { try await look(at: live) }
    }

    /// Updates one download.
    private func look(at live: LiveDownload) async throws(DaemonFailure) {
        do throws(DaemonFailure) {
            let said = try await link.send(DaemonCall(.show, id: live.id.rawValue), as: ListedDownload.self)
            show(said, on: live)
        } catch {
            guard case .refused(let said) = error, said.code == .notFound else { throw error }
            removed([live.id])
        }
    }
}

/// Calls to the daemon: a call waits until the session is joined, and is repeated after an interrupted connection.
extension RemoteSession {
    /// Sends a call and returns its response. Sets `wasRepeated` if an earlier attempt may have been carried out
    /// without a response.
    func ask<Answer: Decodable & Sendable>(
        _ call: DaemonCall, as type: Answer.Type, wasRepeated: inout Bool
    ) async throws(DownloadError) -> Answer {
        let deadline = clock.now() + place.patience
        while true {
            try await joined(until: deadline)
            let attempt = attempt
            do throws(DaemonFailure) {
                return try await link.send(call, as: type)
            } catch {
                guard case .unreachable = error, clock.now() < deadline else { throw self.error(error) }
                // A cancelled task cannot wait, and would repeat the call without a pause.
                if Task.isCancelled { throw Self.waitWasCancelled }
                wasRepeated = true
                await lost(since: attempt)
            }
        }
    }

    func ask<Answer: Decodable & Sendable>(_ call: DaemonCall, as type: Answer.Type) async throws(DownloadError)
        -> Answer
    {
        var wasRepeated = false
        return try await ask(call, as: type, wasRepeated: &wasRepeated)
    }

    /// Sends a call with a JSON body.
    func ask<Answer: Decodable & Sendable>(
        _ route: Route, id: String = "", query: [(name: String, value: String)] = [],
        _ body: some Encodable & Sendable, as type: Answer.Type
    ) async throws(DownloadError) -> Answer {
        try await ask(DaemonCall(route, id: id, query: query, json: body), as: type)
    }

    /// Returns once the session is joined; starts the daemon if it is not running.
    ///
    /// Throws `shutDown`; `daemonUnavailable` if the daemon was never reachable and cannot be started, has another
    /// version, or does not respond before the deadline; the daemon's error if it refuses the session.
    func joined(until deadline: Duration? = nil) async throws(DownloadError) {
        let deadline = deadline ?? clock.now() + place.patience
        let before = state.withLock { state in
            state.callers += 1
            return state.failures.count
        }
        defer { state.withLock { $0.callers -= 1 } }
        var hasAsked = false
        while true {
            let seen = updates.count
            let (phase, failures, failure, wasJoined) = state.withLock {
                ($0.phase, $0.failures.count, $0.failures.last, $0.wasJoined)
            }
            switch phase {
            case .joined: return
            case .closed: throw Self.wasShutDown
            case .idle: beginJoining()
            case .joining:
                if !hasAsked {
                    hasAsked = true
                    link.hurry()
                }
            }
            if let failure, failures > before {
                // Keep waiting for a daemon that was joined before or whose failure is transient; other errors are
                // final.
                let mayCome = if case .transient = failure.recovery { true } else { wasJoined }
                if !mayCome || failure.code != .daemonUnavailable { throw failure }
            }
            let left = deadline - clock.now()
            if left <= .zero {
                throw failure
                    ?? DownloadError(
                        .daemonUnavailable, ErrorPhrase(.daemonSilent, link.socket),
                        recovery: .transient(retryAfter: nil))
            }
            if Task.isCancelled { throw Self.waitWasCancelled }
            await updates.wait(after: seen, atMost: left, by: clock)
        }
    }

    private static let waitWasCancelled = DownloadError(.cancelled, ErrorPhrase(.waitForDaemonWasCancelled))

    /// The number of failed attempts to join, and the phase.
    struct Attempt: Sendable, Hashable {
        var failures: Int
        var phase: Phase
    }

    var attempt: Attempt { state.withLock { Attempt(failures: $0.failures.count, phase: $0.phase) } }

    /// Waits after an interrupted connection until the event stream has failed too, at most 200 ms, so that the call is not
    /// repeated in a tight loop while the daemon shuts down.
    func lost(since attempt: Attempt) async {
        let seen = updates.count
        if attempt == self.attempt { await updates.wait(after: seen, atMost: .milliseconds(200), by: clock) }
    }

    /// Returns the error of a failed call, for apps.
    func error(_ failure: DaemonFailure) -> DownloadError { failure.error(socket: link.socket) }
}

/// Applies the daemon's events.
extension RemoteSession {
    /// Applies one event of the stream, in order.
    ///
    /// Throws `unreachable` if the state that the event refers to could not be read. The stream must then start over with a
    /// snapshot, because objects would otherwise keep an outdated state.
    func take(_ sent: ServerSentEvent) async throws(DaemonFailure) {
        let event: StreamEvent?
        do { event = try StreamEvent(sent) } catch {
            configuration.log(LogEntry(.error, "an event of the daemon cannot be read", details: "\(error)"))
            event = nil
        }
        do throws(DaemonFailure) {
            if let event { try await take(event) }
        } catch {
            configuration.log(LogEntry(.notice, "the state after an event could not be read", details: "\(error)"))
            if case .unreachable = error {
                state.withLock { $0.stream.forget() }
                throw error
            }
        }
        if let id = sent.id { state.withLock { $0.stream.received(id) } }
    }

    private func take(_ event: StreamEvent) async throws(DaemonFailure) {
        switch event {
        case .state(let said): stands(said)
        case .progress(let batch, _): for one in batch { moved(one) }
        case .removed(let ids, let position): removed(ids.map { DownloadID(rawValue: $0) }, asOf: position)
        case .order: log.append(ListChange(isReordered: true))
        case .happened(let body), .ended(let body): happened(body.event)
        case .network(let status): set(network: status)
        case .settings, .set: break
        case .upToDate:
            state.withLock { $0.stream.backlogEnded() }
            updates.notify()
        case .reset(let snapshot):
            set(network: snapshot.network)
            // Responses that are still in transit may be older than the events that were lost. No call precedes the first
            // snapshot.
            state.withLock { if $0.stream.isUpToDate { $0.passing.lost(before: snapshot.asOf) } }
            try await lookAround()
            log.append(ListChange(isReordered: true))
        }
    }

    private func stands(_ said: ListedDownload) {
        guard said.session == place.identifier else { return }
        switch said.status.state {
        // The daemon reports progress of running downloads, with or without handles.
        case .downloading, .verifying: _ = try? live(for: said)
        case .waiting, .paused, .failed, .completed, .cancelled:
            let live = state.withLock { state in
                state.running.halted(said.id)
                // For the response to a call about a download that has no object yet.
                state.passing.note(said)
                return registry[said.id]
            }
            if let live { show(said, on: live) }
        }
        log.append(ListChange(changed: [said.id]))
        updates.notify()
    }

    private func moved(_ one: StreamEvent.Progress) {
        let id = DownloadID(rawValue: one.id)
        let (live, dispatcher, hasBegun) = state.withLock { state in
            (registry[id], state.dispatcher, state.running.begun.contains(id))
        }
        guard let live, live.show(one.progress), hasBegun, live.current == .downloading else { return }
        dispatcher?.report(one.progress, of: id)
    }

    /// Closes downloads that had left the list by this position of the daemon's log; `nil` for the current position.
    func removed(_ ids: [DownloadID], asOf position: UInt64? = nil) {
        let gone: [LiveDownload] = state.withLock { state in
            if let position { state.passing.note(removed: ids, asOf: position) }
            return ids.compactMap { id in
                // The download has been listed again since.
                if let position, registry[id]?.isNewer(than: position) == true { return nil }
                state.running.remove(id)
                return registry.remove(id)
            }
        }
        for live in gone { live.close() }
        log.append(ListChange(removed: Set(ids)))
        updates.notify()
    }

    /// Delivers an event to the app. The state that the event led to has been applied before.
    private func happened(_ said: DownloadEvent) {
        let event = DownloadEvent(
            id: said.id, date: said.date, kind: said.kind, number: said.number, reason: said.reason,
            onAcknowledge: { [weak self] number in self?.handled(number) })
        let isTold: Bool = state.withLock { state in
            switch said.kind {
            case .started, .resumed: state.running.began(said.id)
            case .paused, .completed, .failed, .cancelled: state.running.halted(said.id)
            case .added, .retrying, .restarted, .waiting, .note: break
            }
            guard state.receipts.isNew(event) else { return false }
            // Until the backlog is complete, each listener reads it itself.
            return said.number == nil || state.stream.isUpToDate
        }
        let change = if case .added = said.kind { ListChange(added: [said.id]) } else { ListChange() }
        log.append(change, isTold ? [event] : [])
        updates.notify()
    }

    private func set(network: NetworkStatus) {
        state.withLock { $0.network = network }
        networkHub.send(network)
    }

    // MARK: Events

    func listen() -> EventHub.Place { log.listen { [weak self] in await self?.backlog() } }

    /// Returns the unacknowledged end events, once the daemon has sent all of them; `nil` if the session is closed before that.
    private func backlog() async -> [DownloadEvent]? {
        while !Task.isCancelled {
            let seen = updates.count
            let (phase, isUpToDate, backlog) = state.withLock { ($0.phase, $0.stream.isUpToDate, $0.receipts.backlog) }
            if isUpToDate { return backlog }
            if phase == .closed { return nil }
            await updates.wait(after: seen)
        }
        return nil
    }

    // MARK: Acknowledging

    private func handled(_ number: Int64) {
        guard state.withLock({ $0.receipts.handle(number) }) else { return }
        acknowledge()
    }

    /// Sends acknowledgements to the daemon; failed ones are sent again after the next join.
    private func acknowledge() {
        let begins = state.withLock { $0.wasJoined && $0.receipts.beginSending() }
        guard begins else { return }
        // owner: none; the task ends when the daemon has responded or is lost; shutdown sends the rest.
        Task { [weak self] in await self?.deliver() }
    }

    /// Sends acknowledgements until none is left or the daemon is lost.
    private func deliver() async {
        while true {
            let numbers = state.withLock { $0.receipts.nextToSend() }
            if numbers.isEmpty { return }
            do throws(DaemonFailure) {
                _ = try await link.send(
                    DaemonCall(.acknowledge, json: AcknowledgeBody(numbers.sorted())), as: Nothing.self)
                state.withLock { $0.receipts.delivered(numbers) }
            } catch {
                state.withLock { state in
                    state.receipts.endSending()
                    // Do not repeat an acknowledgement that the daemon refuses.
                    if case .refused = error { state.receipts.delivered(numbers) }
                }
                return
            }
        }
    }
}

/// Adding to the session's list, and reading it.
extension RemoteSession {
    func add(_ requests: [DownloadRequest]) async throws(DownloadError) -> [LiveDownload] {
        // Identifiers are assigned here, so that a repeated call refers to the same downloads.
        var named = requests
        for index in named.indices where named[index].id == nil { named[index].id = DownloadID.make() }
        for request in named { try checkMayLeave(request) }
        guard !state.withLock({ $0.isDraining }) else { throw Self.wasShutDown }
        if named.isEmpty { return [] }
        callBegan()
        defer { callEnded() }
        let answer = try await ask(.add, NewDownloads(named), as: DownloadItems.self)
        guard answer.items.count == named.count else { throw Self.unreadable("\(answer.items.count) answers") }
        var all: [LiveDownload] = []
        for (said, request) in zip(answer.items, named) { all.append(try await current(said, request)) }
        return all
    }

    func add(resumingWith data: ResumeData) async throws(DownloadError) -> LiveDownload {
        var wasRepeated = false
        callBegan()
        defer { callEnded() }
        do throws(DownloadError) {
            let call = DaemonCall(.addResumeData, json: ResumeDataBody(data.data))
            let said = try await ask(call, as: ListedDownload.self, wasRepeated: &wasRepeated)
            return try await current(said)
        } catch {
            // An earlier attempt of this call has used the data.
            guard wasRepeated, error.code == .notResumable, let live = try await download(data.id) else { throw error }
            return live
        }
    }

    func adopt(_ path: String) async throws(DownloadError) -> LiveDownload {
        callBegan()
        defer { callEnded() }
        return try await current(await ask(.adopt, AdoptBody(path: path), as: ListedDownload.self))
    }

    // MARK: Reading

    func downloads(offset: Int, limit: Int) async throws(DownloadError) -> [LiveDownload] {
        try await list(offset: offset, limit: limit, [])
    }

    func downloads(of url: DownloadURL) async throws(DownloadError) -> [LiveDownload] {
        // The search also matches substrings, names and labels, so filter by equality.
        try await list(offset: 0, limit: .max, [("search", url.with(nil).text)])
            .filter { $0.request.sources.first?.text == url.with(nil).text }
    }

    /// Reads the list; `limit` may be `Int.max`.
    private func list(
        offset: Int, limit: Int, _ filter: [(name: String, value: String)]
    ) async throws(DownloadError) -> [LiveDownload] {
        if limit == 0 { return [] }
        callBegan()
        defer { callEnded() }
        let page = try await ask(.list(filter, offset: offset, limit: limit), as: DownloadPage.self)
        var all: [LiveDownload] = []
        for said in page.items { all.append(try await current(said)) }
        return all.filter { !$0.isClosed }
    }

    func download(_ id: DownloadID) async throws(DownloadError) -> LiveDownload? {
        if let live = known(id) {
            try await joined()
            return live
        }
        callBegan()
        defer { callEnded() }
        guard let said = try await listed(id) else { return nil }
        let live = try await current(said)
        return live.isClosed ? nil : live
    }

    /// Returns the object of a download in a response, as current as the newest event; closed if the download has left the list.
    private func current(
        _ said: ListedDownload, _ request: DownloadRequest? = nil
    ) async throws(DownloadError) -> LiveDownload {
        let (live, isNew) = try live(for: said, request: request)
        guard isNew, said.session == place.identifier, state.withLock({ $0.passing.isDoubtful(said) }) else {
            return live
        }
        // The response may belong to a log that has been replaced since.
        live.forgetPosition()
        do throws(DaemonFailure) { try await look(at: live) } catch {
            // The call itself has succeeded. The snapshot at the start of the next stream updates the object.
            state.withLock { $0.stream.forget() }
        }
        return live
    }

    private func listed(_ id: DownloadID) async throws(DownloadError) -> ListedDownload? {
        do throws(DownloadError) {
            let said = try await ask(
                DaemonCall(.show, id: id.rawValue), as: ListedDownload.self)
            return said.session == place.identifier ? said : nil
        } catch {
            if error.code == .notFound { return nil }
            throw error
        }
    }

    func count() async throws(DownloadError) -> Int {
        try await ask(DaemonCall.list(limit: 1), as: DownloadPage.self).total
    }

    func storageReport() async throws(DownloadError) -> StorageReport {
        try await ask(DaemonCall(.storage), as: StorageReport.self)
    }

    static func unreadable(_ what: String) -> DownloadError {
        DownloadError(
            .daemonUnavailable, ErrorPhrase(.daemonUnreadable, what), suggestion: ErrorPhrase(.updateFerry),
            recovery: .needsUser)
    }
}

/// The session as the backend of a manager: opening and closing, settings, network.
extension RemoteSession: DownloadBackend {
    func activate() async throws(DownloadError) { try await joined() }

    /// Does nothing: the downloads continue in the daemon.
    func suspend() async {}

    /// Sends changed session settings to the daemon.
    func configure<Failure: Error>(
        _ change: @Sendable (inout DownloadManager.Configuration) throws(Failure) -> Void
    ) async throws(Failure) {
        await settingsLock.acquire()
        defer { settingsLock.release() }
        // Called without holding the mutex, because `change` may read the manager.
        let old = configuration
        var changed = old
        try change(&changed)
        let new = changed
        state.withLock { $0.configuration = new }
        var wish = SettingsChange()
        if new.maxConcurrentDownloads != old.maxConcurrentDownloads {
            wish.maxConcurrentDownloads = .set(max(1, new.maxConcurrentDownloads))
        }
        if new.rateLimit != old.rateLimit { wish.rateLimit = .set(new.rateLimit) }
        if new.allowsMeteredNetwork != old.allowsMeteredNetwork {
            wish.allowsMetered = .set(new.allowsMeteredNetwork)
        }
        if new.allowsConstrainedNetwork != old.allowsConstrainedNetwork {
            wish.allowsConstrained = .set(new.allowsConstrainedNetwork)
        }
        guard wish != SettingsChange() else { return }
        do throws(DownloadError) {
            _ = try await ask(.changeSettings, query: [("scope", "session")], wish, as: SettingsBody.self)
        } catch {
            new.log(LogEntry(.error, "the session's settings could not be changed", details: "\(error)"))
        }
    }

    func directory() async throws(DownloadError) -> String {
        if let given = place.directory { return given }
        try await joined()
        return state.withLock { $0.directory } ?? WorkingDirectory.path
    }

    func plan(_ request: DownloadRequest, testsRanges: Bool) async throws(DownloadError) -> DownloadPlan {
        try checkMayLeave(request)
        let query = testsRanges ? [] : [(name: PlanQuery.testsRanges, value: "false")]
        return try await ask(.plan, query: query, request, as: DownloadPlan.self)
    }

    // MARK: Following

    func history(of id: DownloadID) async throws(DownloadError) -> [DownloadEvent] {
        do throws(DownloadError) {
            return try await ask(DaemonCall(.history, id: id.rawValue), as: EventItems.self).items.map(\.event)
        } catch {
            // As with a local list, an unlisted download has no history.
            if error.code == .notFound { return [] }
            throw error
        }
    }

    var moving: Set<DownloadID> { state.withLock { $0.running.begun } }

    func set(dispatcher: DelegateDispatcher?) { state.withLock { $0.dispatcher = dispatcher } }

    /// Does nothing: the daemon always reports progress.
    func startHeartbeat() {}

    var network: NetworkStatus { state.withLock { $0.network } }

    var networkChanges: AsyncStream<NetworkStatus> { networkHub.stream { network } }

    // MARK: Closing

    /// Detaches in the background after the manager has been released; downloads continue.
    func released() {
        guard !isShutDown else { return }
        PendingShutdowns.all.begin(at: nil) { await self.shutdown() }
    }

    /// The maximum time for which shutdown waits for end events that the daemon has stored, but not yet sent.
    private static let maxShutdownWait: Duration = .seconds(2)

    /// Detaches from the daemon; downloads continue. Events of downloads that have already ended are delivered first, within
    /// ``maxShutdownWait``.
    func shutdown() async {
        if state.withLock({ $0.phase == .joined }) {
            await withTaskGroup(of: Void.self) { [clock] group in
                group.addTask { try? await self.readRemaining() }
                group.addTask { try? await clock.sleep(for: Self.maxShutdownWait) }
                await group.next()
                group.cancelAll()
            }
        }
        let (keeper, live, wasJoined): (Task<Void, Never>?, [LiveDownload], Bool) = state.withLock { state in
            guard state.phase != .closed else { return (nil, [], false) }
            let wasJoined = state.phase == .joined
            state.phase = .closed
            state.running = RunningDownloads()
            defer { state.keeper = nil }
            return (state.keeper, registry.all, wasJoined)
        }
        updates.notify()
        keeper?.cancel()
        await keeper?.value
        if wasJoined { await deliver() }
        for live in live { live.close() }
        networkHub.close()
        log.close()
    }

    /// Refuses new downloads and returns once no download of the session is running or queued.
    func drain() async -> Bool {
        state.withLock { $0.isDraining = true }
        while !isShutDown, !Task.isCancelled {
            let seen = updates.count
            do throws(DownloadError) {
                if try await open() == 0 {
                    try await readRemaining()
                    // The list may be ahead of the event stream.
                    try await catchUp()
                    return state.withLock { $0.stream.isUpToDate }
                }
            } catch { return false }
            await updates.wait(after: seen)
        }
        return false
    }

    /// Returns once the events of all downloads that have already ended are delivered, or after `place.patience`. Later events
    /// are delivered at the next launch.
    private func readRemaining() async throws(DownloadError) {
        let deadline = clock.now() + place.patience
        while !isShutDown, !Task.isCancelled, clock.now() < deadline {
            let seen = updates.count
            // Read before the call: acknowledgements during the call lower the daemon's count, and do not raise it.
            let (known, isUpToDate) = state.withLock {
                ($0.receipts.pending.count + $0.receipts.handled.count, $0.stream.isUpToDate)
            }
            let sessions = try await ask(DaemonCall(.sessions), as: SessionItems.self).items
            let own = sessions.first { $0.identifier == place.identifier }
            if isUpToDate, own?.pendingEvents ?? 0 <= known { break }
            await updates.wait(after: seen, atMost: deadline - clock.now(), by: clock)
        }
    }

    /// The number of downloads that are running or wait for something other than the user.
    private func open() async throws(DownloadError) -> Int {
        let open = try await ask(.list([("state", "waiting,downloading,verifying")]), as: DownloadPage.self)
        return open.items.count { said in
            switch said.status.state {
            case .waiting(.freshLink), .waiting(.credentials): false
            default: true
            }
        }
    }

    /// Throws `invalidRequest` for a stream destination, because a stream cannot be passed to the daemon.
    func checkMayLeave(_ request: DownloadRequest) throws(DownloadError) {
        guard case .stream = request.destination else { return }
        throw DownloadError(.invalidRequest, ErrorPhrase(.streamStaysHere), recovery: .needsUser)
    }
}

extension DownloadSnapshot {
    /// The daemon's snapshot of a download; `nil` if it lacks fields that a handle shows.
    init?(_ said: ListedDownload) {
        guard let handle = said.handle, var request = handle.request else { return nil }
        request.id = said.id
        self.init(status: said.status, request: request, finished: handle.finished)
    }
}
