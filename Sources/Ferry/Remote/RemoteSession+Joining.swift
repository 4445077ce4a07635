import FerryAPI
import FerryCore
import FerryEngine
import Foundation
import Logging
import Synchronization

/// Finding, starting and rejoining the daemon.
extension RemoteSession {
    /// Maximum pause between attempts to reach a lost daemon.
    private static let longestPause: Duration = .seconds(5)
    /// The daemon sends something every 15 s; after a longer silence than this, the daemon counts as lost.
    private static let longestSilence: Duration = .seconds(60)
    /// How long the daemon may take to listen, which includes opening its catalogue.
    private static let longestStart: Duration = .seconds(20)

    /// Begins joining, unless that has begun.
    func beginJoining() {
        state.withLock { state in
            guard state.phase == .idle else { return }
            state.phase = .joining
            // owner: state.keeper, cancelled and awaited in shutdown.
            state.keeper = Task { await self.keepJoined() }
        }
    }

    private func keepJoined() async {
        // The first attempt starts the daemon if needed.
        var mayStart = true
        while !Task.isCancelled {
            do throws(DownloadError) {
                let stream = try await join(mayStart: mayStart)
                updates.notify()
                acknowledge()
                let wasBroken = await follow(stream)
                if Task.isCancelled { return }
                state.withLock { if $0.phase == .joined { $0.phase = .joining } }
                updates.notify()
                // If the daemon ended the stream itself, it was stopped on purpose, and is started again only for a
                // call.
                mayStart = wasBroken
            } catch {
                if Task.isCancelled { return }
                state.withLock { state in
                    state.failures += 1
                    state.failure = error
                }
                updates.notify()
            }
            await pause()
            mayStart = mayStart || state.withLock { $0.callers > 0 }
        }
    }

    /// Waits before the next attempt, with exponential back-off; a new call ends the wait.
    private func pause() async {
        let failures = state.withLock { $0.failures }
        let seen = asked.count
        var delay = Duration.milliseconds(50)
        for _ in 0..<min(failures, 10) { delay = min(delay * 2, Self.longestPause) }
        // Jitter, so that not all clients of a daemon reconnect at once.
        delay = delay * Double.random(in: 0.5...1)
        await withTaskGroup(of: Void.self) { [clock, asked, delay] group in
            group.addTask { try? await clock.sleep(for: delay) }
            group.addTask { await asked.wait(after: seen) }
            await group.next()
            group.cancelAll()
        }
    }

    // MARK: One attempt

    private func join(mayStart: Bool) async throws(DownloadError) -> EventReader {
        let greeting = try await greet(mayStart: mayStart)
        let session: SessionBody
        let stream: EventReader
        // Resume the stream only after the backlog was complete; an interrupted backlog is sent again from the
        // beginning.
        let last = state.withLock { $0.boot == greeting.boot && $0.isUpToDate ? $0.lastEvent : nil }
        do throws(DaemonFailure) {
            session = try await client.send(
                call(
                    .attach,
                    SessionRegistration(
                        identifier: place.identifier, directory: place.directory, launchCommand: place.launchCommand)),
                as: SessionBody.self)
            stream = try await client.events(after: last)
        } catch { throw self.error(error) }
        return try state.withLock { (state) throws(DownloadError) in
            guard state.phase != .closed else { throw Self.wasShutDown }
            if state.boot != greeting.boot {
                // A new daemon instance restarts its revisions, so accept any.
                for live in registry.all { live.forgetRevision() }
            }
            state.directory = session.directory
            state.boot = greeting.boot
            state.phase = .joined
            state.wasJoined = true
            state.failures = 0
            state.failure = nil
            return stream
        }
    }

    private func greet(mayStart: Bool) async throws(DownloadError) -> Greeting {
        try DaemonSocket.check(client.socket)
        do throws(DaemonFailure) {
            return try await client.greet()
        } catch {
            guard case .unreachable = error, mayStart else { throw self.error(error) }
        }
        let reason = try await start()
        try DaemonSocket.check(client.socket)
        do throws(DaemonFailure) {
            return try await client.greet()
        } catch {
            // The daemon's own report explains more than a failed connection.
            if let reason, case .unreachable = error { throw reason }
            throw self.error(error)
        }
    }

    /// Starts the daemon. Returns the reason if it reported that it cannot run; another daemon may still be
    /// reachable.
    private func start() async throws(DownloadError) -> DownloadError? {
        let binary = try DaemonFinder(given: place.binary).find()
        let environment = place.socket.map { ["FERRY_SOCKET": $0] } ?? [:]
        let outcome = try await DaemonProcess.start(
            binary, environment: environment, within: Self.longestStart, clock: clock)
        switch outcome {
        case .ready: return nil
        case .failed(let error):
            // Another daemon holds the lock; it may be starting or shutting down.
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
            configuration.logger?.warning("the daemon that was started is not ready yet")
            return nil
        }
    }

    /// Reads the running downloads and those with handles again, after events were missed.
    func lookAround() async throws(DaemonFailure) {
        state.withLock { state in
            state.running = [:]
            state.moving = []
        }
        let running = try await client.send(
            DaemonCall(
                .list, query: [("state", "downloading,verifying"), ("limit", "\(FerryAPI.mostEntries)")]),
            as: DownloadPage.self)
        for said in running.items {
            guard let live = live(for: said)?.live else { continue }
            // The name is set with the server's first response, so the start has been reported.
            let hasBegun = live.status.path != nil
            state.withLock { if hasBegun, $0.running[live.id] != nil { $0.moving.insert(live.id) } }
        }
        try await lookAtHeld()
    }

    /// Updates all downloads with handles.
    func lookAtHeld() async throws(DaemonFailure) {
        let held = registry.all.filter { !$0.isClosed }
        if held.count > Self.mostAlone { return try await lookAtAll(held) }
        for live in held { try await look(at: live) }
    }

    /// Maximum number of downloads requested one by one; beyond it, the list is read.
    private static let mostAlone = 100

    private func lookAtAll(_ held: [LiveDownload]) async throws(DaemonFailure) {
        var left = Dictionary(held.map { ($0.id, $0) }) { first, _ in first }
        var offset = 0
        while !left.isEmpty {
            let page = try await client.send(
                DaemonCall(
                    .list,
                    query: [("offset", "\(offset)"), ("limit", "\(FerryAPI.mostEntries)")]),
                as: DownloadPage.self)
            for said in page.items {
                guard let live = left.removeValue(forKey: said.id) else { continue }
                if let snapshot = DownloadSnapshot(said) { show(snapshot, on: live) }
            }
            offset += page.items.count
            if page.items.isEmpty || offset >= page.total { break }
        }
        // The list may have changed between the pages; request the missing downloads one by one.
        for live in left.values { try await look(at: live) }
    }

    /// Updates one download.
    func look(at live: LiveDownload) async throws(DaemonFailure) {
        do throws(DaemonFailure) {
            let said = try await client.send(
                DaemonCall(.show, id: live.id.rawValue), as: ListedDownload.self)
            if let snapshot = DownloadSnapshot(said) { show(snapshot, on: live) }
        } catch {
            guard case .refused(let said) = error, said.code == .notFound else { throw error }
            removed([live.id])
        }
    }

    // MARK: Following

    /// Reads the stream to its end. Returns true if the stream broke or went silent.
    private func follow(_ stream: EventReader) async -> Bool {
        let signs = SignsOfLife(clock.now())
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask { [clock] in
                do throws(DaemonFailure) {
                    var events = stream.hearing { signs.last.withLock { $0 = clock.now() } }.makeAsyncIterator()
                    while let event = try await events.next() { try await self.take(event) }
                    return false
                } catch {
                    // The event is not applied yet, so the next stream begins with a snapshot.
                    return true
                }
            }
            group.addTask { [clock] in
                while !Task.isCancelled {
                    try? await clock.sleep(for: .seconds(15))
                    if signs.last.withLock({ clock.now() - $0 }) > Self.longestSilence { return true }
                }
                return false
            }
            let wasBroken = await group.next() ?? true
            group.cancelAll()
            return wasBroken
        }
    }

    /// The error for apps of a failed call.
    func error(_ failure: DaemonFailure) -> DownloadError { failure.error(socket: client.socket) }

    /// A call with a JSON body.
    func call(_ route: Route, id: String = "", _ body: some Encodable) throws(DaemonFailure) -> DaemonCall {
        do { return try DaemonCall(route, id: id, json: body) } catch { throw .unreadable("\(error)") }
    }
}

/// The time of the last data from the daemon.
private final class SignsOfLife: Sendable {
    let last: Mutex<Duration>

    init(_ now: Duration) { last = Mutex(now) }
}
