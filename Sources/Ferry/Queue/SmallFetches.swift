package import FerryCore
import FerryEngine
import Synchronization

/// A small file to be fetched without an entry in the list; see ``DownloadManager/smallDownload(_:end:)``.
package struct SmallDownload: Sendable {
    package enum Outcome: Sendable {
        /// The file is complete. `notes`: what the events of a listed download would state about its publication.
        case finished(FinishedDownload, notes: [Reason])
        /// The download must be listed, with the request that was sent.
        case mustBeListed(SentRequest)
    }

    /// The first request of a download that is not listed yet; it may not have been sent at all.
    package struct SentRequest: Sendable {
        fileprivate let exchange: FirstExchange?
    }

    fileprivate let fetch: SmallFetch
    fileprivate let origin: Origin
    fileprivate let environment: EngineEnvironment
    /// The maximum time between the head of the response and the pieces of its body.
    fileprivate let patience: Duration
    fileprivate let end: @Sendable (Outcome) -> Void

    /// - Parameter heard: Called when bytes arrive.
    fileprivate func run(on loop: (any TaskExecutor)?, heard: () -> Void) async {
        environment.book.began(origin, at: environment.clock.now())
        let outcome = await fetch.run(on: loop, arrived: heard)
        environment.book.ended(origin, gaveUp: false)
        switch outcome {
        case .finished(let file, let notes): end(.finished(file, notes: notes))
        case .needsRun(let exchange): end(.mustBeListed(SentRequest(exchange: exchange)))
        }
    }
}

/// The small files that are being fetched without entries in the list: owns their tasks, and cancels those that receive nothing
/// for too long.
final class SmallFetches: Sendable {
    private struct Fetch {
        let task: Task<Void, Never>
        let patience: Duration
        /// When the head of the response or the last piece of its body arrived; `nil` before.
        var heardAt: Duration?
    }
    private struct State {
        var fetches: [Int: Fetch] = [:]
        var last = 0
        var isClosed = false
        /// The task that watches the fetches, while there are any.
        var watch: Task<Void, Never>?
    }
    private let state = Mutex(State())
    private let clock: any EngineClock
    private static let interval: Duration = .seconds(1)

    init(_ clock: any EngineClock) { self.clock = clock }

    /// Starts a fetch. After ``close()``, it ends at once without a request.
    func start(_ download: SmallDownload) {
        let hasStarted = state.withLock { state in
            if state.isClosed { return false }
            state.last += 1
            let number = state.last
            let loop = download.environment.loop()
            // owner: state.fetches, awaited in close.
            let task = Task(executorPreference: download.fetch.start(with: loop)) {
                await download.run(on: loop) { self.heard(number) }
                self.state.withLock { $0.fetches[number] = nil }
            }
            state.fetches[number] = Fetch(task: task, patience: download.patience)
            if state.watch == nil {
                // owner: state.watch; it ends when no fetch is left.
                state.watch = Task(executorPreference: loop) { [clock] in
                    repeat { try? await clock.sleep(for: Self.interval) } while !Task.isCancelled && self.watch()
                }
            }
            return true
        }
        if !hasStarted { download.end(.mustBeListed(SmallDownload.SentRequest(exchange: nil))) }
    }

    private func heard(_ number: Int) {
        let now = clock.now()
        state.withLock { $0.fetches[number]?.heardAt = now }
    }

    /// Cancels the fetches that stall. Returns whether to continue.
    private func watch() -> Bool {
        let now = clock.now()
        let (stalled, continues) = state.withLock { state in
            if state.fetches.isEmpty { state.watch = nil }
            let stalled = state.fetches.values.filter { fetch in
                fetch.heardAt.map { now - $0 > fetch.patience } ?? false
            }
            return (stalled.map(\.task), !state.fetches.isEmpty)
        }
        for task in stalled { task.cancel() }
        return continues
    }

    /// Cancels all fetches and waits for them; later ones do not start.
    func close() async {
        let (tasks, watch) = state.withLock { state in
            state.isClosed = true
            return (state.fetches.values.map(\.task), state.watch)
        }
        watch?.cancel()
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        await watch?.value
    }
}

/// The requests that were sent for downloads before their runs.
final class FirstExchanges: Sendable {
    private let exchanges = Mutex<[DownloadID: FirstExchange]>([:])

    func put(_ exchange: FirstExchange, for id: DownloadID) { exchanges.withLock { $0[id] = exchange } }

    /// Returns the exchange for the first run of a download; only once.
    func take(for id: DownloadID) -> FirstExchange? { exchanges.withLock { $0.removeValue(forKey: id) } }
}

extension Scheduler {
    fileprivate func smallDownload(
        _ request: DownloadRequest, _ end: @escaping @Sendable (SmallDownload.Outcome) -> Void
    ) -> SmallDownload? {
        guard !isKept, queue.accepts, queue.assumesNetwork || queue.networkStatus.isOnline, request.id == nil,
            request.session == nil, request.notBefore == nil, !request.startsPaused, let source = request.sources.first,
            let settings = settingsOfSmall(request), let request = try? request.checked()
        else { return nil }
        let environment = environment
        // allow(origin): the health of a server; carries no secret.
        let origin = source.origin
        guard case .open = environment.book.opening(of: origin, at: clock.now()),
            let fetch = SmallFetch(request, environment: environment, settings: settings)
        else { return nil }
        return SmallDownload(
            fetch: fetch, origin: origin, environment: environment,
            patience: request.stallTimeout ?? settings.stallTimeout, end: end)
    }
}

extension DownloadManager {
    /// Returns the download of a small file that needs no entry in the list, to be started with ``start(_:)``. Returns `nil` if the
    /// download must be listed: the list is stored, the request needs a queue or a run, its server is down, or the network may
    /// not be used.
    ///
    /// - Parameters:
    ///   - request: A request, which need not have been validated.
    ///   - end: Called once with the outcome, from any thread; it must not block.
    package func smallDownload(
        _ request: DownloadRequest, end: @escaping @Sendable (SmallDownload.Outcome) -> Void
    ) -> SmallDownload? {
        scheduler?.smallDownload(request, end)
    }

    package func start(_ download: SmallDownload) { scheduler?.smallFetches.start(download) }

    /// Adds a download whose first request was sent already; its run continues with the response.
    package func download(
        _ request: DownloadRequest, continuing sent: SmallDownload.SentRequest
    ) async throws(DownloadError) -> Download {
        guard let exchange = sent.exchange, let scheduler else { return try await download(request) }
        var request = request
        let id = request.id ?? DownloadID.make()
        request.id = id
        scheduler.firstExchanges.put(exchange, for: id)
        do throws(DownloadError) { return try await download(request) } catch {
            _ = scheduler.firstExchanges.take(for: id)
            throw error
        }
    }
}
