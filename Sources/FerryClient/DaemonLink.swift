package import FerryAPI
package import FerryCore
import FerryEngine
import Logging
import Synchronization

/// The client of the daemon for one session; each background manager and each command has its own.
///
/// ```
/// ask ──► reach ──► send ──► HTTP over the socket ──► the daemon
///           │ no daemon: start it, send again
/// follow ──► open the event stream ──► take, take, … ──► pause ──► open it again
/// ```
///
/// A daemon that accepts connections but sends nothing for ``maxSilence`` counts as lost while data is expected: an event on
/// the event stream, or the response head of a call that only reads. Other calls and long responses may take as long as they
/// need, if the daemon responds to a greeting each time.
package struct DaemonLink: Sendable {
    let client: DaemonClient
    private let place: DaemonAddress
    private let mayStart: Bool
    private let clock: any EngineClock
    private let logger: Logger?
    private let hurried = AsyncEvent()

    /// The daemon sends something on its event stream every 15 s.
    private static let maxSilence: Duration = .seconds(60)
    /// The maximum pause between attempts to reach the daemon, unless the daemon has requested a longer one.
    private static let longestPause: Duration = .seconds(5)

    /// - Parameter mayStart: Whether ``ask(_:id:query:json:as:)`` starts the daemon if it does not run.
    init(
        _ place: DaemonAddress, mayStart: Bool = false, wantsHandles: Bool = false, logger: Logger? = nil,
        clock: any EngineClock
    ) {
        self.place = place
        self.mayStart = mayStart
        self.clock = clock
        self.logger = logger
        client = DaemonClient(
            socket: place.socket ?? DaemonSocket.path(), session: place.identifier, wantsHandles: wantsHandles)
    }

    /// Creates the link for a command, to the session that the command line and the page share.
    package init(mayStart: Bool = false) {
        self.init(DaemonAddress(identifier: FerryAPI.defaultSession), mayStart: mayStart, clock: SystemClock())
    }

    /// The path of the daemon's socket.
    package var socket: String { client.socket }

    // MARK: Calls

    /// Sends a call and returns its response. If the daemon cannot be reached and may be started, starts it and sends the call
    /// again, even while another daemon is shutting down.
    package func ask<Answer: Decodable & Sendable>(
        _ route: Route, id: String = "", query: [(name: String, value: String)] = [],
        json: (any Encodable & Sendable)? = nil, as type: Answer.Type
    ) async throws(DownloadError) -> Answer {
        try await ask(DaemonCall(route, id: id, query: query, json: json), as: type)
    }

    private func ask<Answer: Decodable & Sendable>(
        _ call: DaemonCall, as type: Answer.Type
    ) async throws(DownloadError) -> Answer {
        let deadline = clock.now() + place.patience
        var failures = 0
        while true {
            do throws(DownloadError) {
                return try await reach(mayStart: mayStart) { () async throws(DaemonFailure) in
                    try await send(call, as: type)
                }
            } catch {
                guard mayStart, error.code == .daemonUnavailable, case .transient = error.recovery,
                    clock.now() < deadline, !Task.isCancelled
                else { throw error }
                failures += 1
                await pause(after: failures, error)
            }
        }
    }

    /// Returns at most `limit` downloads that match a filter, in the order that the filter specifies.
    package func downloads(
        _ filter: [(name: String, value: String)] = [], limit: Int = .max
    ) async throws(DownloadError) -> [ListedDownload] {
        try await page(filter, limit: limit).items
    }

    /// Like ``downloads(_:limit:)``, and also returns the position in the daemon's log up to which the list is current.
    package func page(
        _ filter: [(name: String, value: String)] = [], limit: Int = .max
    ) async throws(DownloadError) -> DownloadPage {
        try await ask(DaemonCall.list(filter, limit: limit), as: DownloadPage.self)
    }

    /// Opens the event stream of the session `named`, or of this session. The stream starts after the event `id` or, if that is
    /// `nil`, with a snapshot of at most `limit` downloads.
    package func events(
        after id: String?, of named: String? = nil, limit: Int? = nil
    ) async throws(DownloadError) -> EventReader {
        try await reach(mayStart: false) { () async throws(DaemonFailure) in
            try await watched(.events) { () async throws(DaemonFailure) in
                try await client.events(after: id, of: named, limit: limit)
            }
        }
    }

    /// Gets the versions of the daemon. Throws `otherVersion` if it supports none of this program's API versions.
    package func greet() async throws(DaemonFailure) -> Greeting {
        let greeting = try await send(DaemonCall(.greeting), as: Greeting.self)
        guard greeting.minimum <= FerryAPI.version, greeting.api >= FerryAPI.minimumVersion else {
            throw .otherVersion("\(greeting.version), API \(greeting.api)")
        }
        return greeting
    }

    /// Sends a call once.
    func send<Answer: Decodable & Sendable>(
        _ call: DaemonCall, as type: Answer.Type
    ) async throws(DaemonFailure) -> Answer {
        let head = AsyncEvent()
        return try await watched(call.route, head) { () async throws(DaemonFailure) in
            try await client.send(call, as: type) { head.notify() }
        }
    }

    // MARK: Silence

    /// Runs a request, which notifies `head` when its response head has arrived. Throws `unreachable` once the daemon counts as
    /// lost.
    func watched<Value: Sendable>(
        _ route: Route, _ head: AsyncEvent = AsyncEvent(),
        _ request: @escaping @Sendable () async throws(DaemonFailure) -> Value
    ) async throws(DaemonFailure) -> Value {
        let result: Result<Value, DaemonFailure> = await withTaskGroup(of: Result<Value, DaemonFailure>?.self) {
            group in
            group.addTask {
                do throws(DaemonFailure) { return .success(try await request()) } catch { return .failure(error) }
            }
            group.addTask { await isLost(during: route, head) ? .failure(.unreachable("no response")) : nil }
            for await case let result? in group {
                group.cancelAll()
                return result
            }
            return .failure(.unreachable("no response"))
        }
        return try result.get()
    }

    /// Returns `true` once the daemon counts as lost, `false` when the task is cancelled.
    private func isLost(during route: Route, _ head: AsyncEvent) async -> Bool {
        while true {
            try? await clock.sleep(for: Self.maxSilence)
            if Task.isCancelled { return false }
            if route.isQuick, head.count == 0 { return true }
            do throws(DaemonFailure) { _ = try await greet() } catch {
                if case .unreachable = error { return !Task.isCancelled }
            }
        }
    }

    // MARK: Starting

    /// Runs a request; if the daemon cannot be reached, starts it and runs the request again.
    func reach<Value>(
        mayStart: Bool, _ request: () async throws(DaemonFailure) -> Value
    ) async throws(DownloadError) -> Value {
        try DaemonSocket.check(socket)
        do throws(DaemonFailure) { return try await request() } catch {
            guard case .unreachable = error, mayStart else { throw error.error(socket: socket) }
        }
        let reason = try await start()
        try DaemonSocket.check(socket)
        do throws(DaemonFailure) { return try await request() } catch {
            // The daemon's own report explains more than a failed connection.
            if let reason, case .unreachable = error { throw reason }
            throw error.error(socket: socket)
        }
    }

    /// Starts the daemon. Returns the reason if the daemon reported that it cannot run; another daemon may be reachable
    /// nevertheless.
    private func start() async throws(DownloadError) -> DownloadError? {
        let binary = try DaemonFinder(given: place.binary).find()
        let environment = place.socket.map { ["FERRY_SOCKET": $0] } ?? [:]
        let outcome = try await DaemonProcess.start(binary, environment: environment, clock: clock)
        switch outcome {
        case .ready: return nil
        case .failed(let error):
            // Another daemon has the lock; it may be starting or shutting down.
            let isTaken = error.code == .conflict
            return DownloadError(
                .daemonUnavailable,
                ErrorPhrase(.daemonNotStarted, binary, error.phrase?.reason ?? .words(error.message)),
                underlying: error.underlying,
                recovery: isTaken ? .transient(retryAfter: nil) : .needsUser)
        case .ended(let status):
            return DownloadError(
                .daemonUnavailable, ErrorPhrase(.daemonNotStarted, binary, "exit \(status)"), recovery: .needsUser)
        case .silent:
            logger?.warning("the daemon that was started is not ready yet")
            return nil
        }
    }

    // MARK: Following

    /// Follows the event stream until the task is cancelled or the follower is done: opens the stream, passes its events to the
    /// follower, and reopens it after its end or a failure, at increasing intervals.
    package func follow(_ follower: some EventFollower) async {
        // The first attempt may start the daemon.
        var mayStart = true
        var failures = 0
        while !Task.isCancelled {
            var failure: DownloadError?
            do throws(DownloadError) {
                let stream = try await follower.open(mayStart: mayStart)
                failures = 0
                // A daemon that has ended the stream itself was stopped on purpose.
                mayStart = await read(stream, for: follower)
            } catch {
                failures += 1
                failure = error
            }
            if Task.isCancelled || !follower.isToReopen(after: failure) { return }
            await pause(after: failures, failure)
            mayStart = mayStart || follower.needsDaemon
        }
    }

    /// Ends a pause between two attempts, because the daemon is needed.
    func hurry() { hurried.notify() }

    /// Waits before the next attempt: as long as the daemon has requested, or else with exponential back-off, which ``hurry()``
    /// ends.
    private func pause(after failures: Int, _ failure: DownloadError?) async {
        if case .transient(let wish?) = failure?.recovery {
            try? await clock.sleep(for: min(wish, RetryAfter.longest))
            return
        }
        let seen = hurried.count
        var delay = Duration.milliseconds(50)
        for _ in 0..<min(failures, 10) { delay = min(delay * 2, Self.longestPause) }
        // Jitter, so that not all clients of a daemon reconnect at once.
        await hurried.wait(after: seen, atMost: delay * Double.random(in: 0.5...1), by: clock)
    }

    /// Reads the stream to its end. Returns `true` if the stream was interrupted or became silent.
    private func read(_ stream: EventReader, for follower: some EventFollower) async -> Bool {
        let signs = SignsOfLife(clock.now())
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                do throws(DaemonFailure) {
                    var events = stream.hearing { signs.heard(at: clock.now()) }.makeAsyncIterator()
                    while let event = try await events.next() { try await follower.take(event) }
                    return false
                } catch {
                    // The event has not been applied, so the next stream starts with a snapshot.
                    return true
                }
            }
            group.addTask {
                while !Task.isCancelled {
                    try? await clock.sleep(for: .seconds(15))
                    if signs.silence(at: clock.now()) > Self.maxSilence { return true }
                }
                return false
            }
            let wasBroken = await group.next() ?? true
            group.cancelAll()
            return wasBroken
        }
    }
}

/// The time of the last data from the daemon.
private final class SignsOfLife: Sendable {
    private let last: Mutex<Duration>

    init(_ now: Duration) { last = Mutex(now) }

    func heard(at now: Duration) { last.withLock { $0 = now } }
    func silence(at now: Duration) -> Duration { last.withLock { now - $0 } }
}

extension AsyncEvent {
    /// Returns when ``count`` exceeds `seen`, the task is cancelled, or the time has elapsed.
    func wait(after seen: UInt64, atMost limit: Duration, by clock: any EngineClock) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await clock.sleep(for: limit) }
            group.addTask { await self.wait(after: seen) }
            await group.next()
            group.cancelAll()
        }
    }
}
