package import Ferry
import FerryCore
import struct Foundation.Date
import Synchronization

/// Carries out a plan: hands its files to the manager, follows what happens, tells it, obeys signals.
///
///     hand over ──► manager ──► events ──► follow ──► reporter
///         ▲                                  │
///         └─────────── a place per end ◄─────┘
///
/// Only a window of the list is with the manager at a time, so that a list of any length costs little memory. One task
/// hands over and follows: a handle is known before anything is told about its file.
package final class GetRun: Sendable {
    let plan: GetPlan
    let manager: DownloadManager
    let reporter: Reporter
    let ledger = Mutex(Ledger())
    private let start = ContinuousClock.now
    /// What has not been handed over yet, and how many more the manager may have.
    private struct Window {
        var freePlaces: Int
        var requests: [DownloadRequest] = []
        var next = 0

        /// The next request, when there is a place for it.
        mutating func take() -> DownloadRequest? {
            guard freePlaces > 0, next < requests.count else { return nil }
            freePlaces -= 1
            next += 1
            return requests[next - 1]
        }
    }
    private let window: Mutex<Window>
    /// Ends when there is nothing more to wait for.
    private let end: AsyncStream<Never>
    private let endNow: AsyncStream<Never>.Continuation

    package init(_ plan: GetPlan, manager: DownloadManager, reporter: Reporter) {
        self.plan = plan
        self.manager = manager
        self.reporter = reporter
        (end, endNow) = AsyncStream.makeStream()
        window = Mutex(Window(freePlaces: max(64, 4 * min(1 << 16, plan.configuration.maxConcurrentDownloads))))
    }

    var elapsed: Duration { ContinuousClock.now - start }

    /// Runs until all files have ended or a signal asks to stop.
    ///
    /// - Parameters:
    ///   - signals: SIGINT, SIGTERM, SIGHUP, SIGTSTP and SIGCONT as they come.
    ///   - willLeave: Called at the first of the stopping signals; it may set a limit to the time that stopping takes.
    package func run(
        signals: AsyncStream<Int32>, willLeave: @escaping @Sendable (ExitCode) -> Void
    ) async -> ExitCode {
        for line in plan.badLines {
            reporter.error(line)
            ledger.withLock { $0.note(.usage) }
        }
        let requests = requests()
        ledger.withLock { $0.expectedCount += requests.count }
        window.withLock { $0.requests = requests }
        let events = manager.events
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await self.handOver()
                for await event in events {
                    await self.follow(event)
                    await self.handOver()
                }
            }
            group.addTask { await self.report() }
            group.addTask {
                // The word of a stop of our own making comes after it is over, when the bars are there again.
                var isOwn = false
                for await signal in signals {
                    switch signal {
                    case SignalWatch.suspending:
                        await self.suspend()
                        isOwn = true
                    case SignalWatch.continuing:
                        if !isOwn { self.reporter.continued() }
                        isOwn = false
                    default: await self.stop(signal, willLeave)
                    }
                }
            }
            for await _ in end {}
            // A signal has done that already.
            if !isStopping { await manager.shutdown() }
            summarize()
            // Signals are still obeyed: who reads standard output may take his time.
            await reporter.drained()
            group.cancelAll()
        }
        return ledger.withLock { $0.exitCode }
    }

    private func summarize() {
        reporter.clear()
        // Stopped, most of what came belongs to files that have not ended: a sum would mislead.
        guard !isStopping else { return }
        let ledger = ledger.withLock { $0 }
        reporter.summary(ledger.whole([]), receivedBytes: ledger.receivedBytes, elapsed: elapsed)
    }

    /// Every file of the plan; directories are looked into here.
    private func requests() -> [DownloadRequest] {
        var requests: [DownloadRequest] = []
        for item in plan.items {
            switch item {
            case .request(let request): requests.append(request)
            case .parts(let directory, let template):
                do {
                    let (parts, others) = try manager.allPartFiles(in: directory)
                    for other in others { reporter.message(PrintableText.escape(other.text(in: .english))) }
                    if parts.isEmpty { reporter.message(PrintableText.escape("\(directory): no part files in it")) }
                    for part in parts {
                        var request = template
                        request.destination = .part(part.utf8.contains("/") ? part : Paths.join(directory, part))
                        requests.append(request)
                    }
                } catch {
                    ledger.withLock { $0.expectedCount += 1 }
                    fail(error, name: directory)
                }
            }
        }
        return requests
    }

    // MARK: Handing over

    /// Gives the manager as many files as have a place.
    private func handOver() async {
        while !isStopping, let request = window.withLock({ $0.take() }) {
            do {
                let download = try await manager.download(request)
                let entry = Entry(request: request, download: download, startedAt: elapsed)
                guard let events = ledger.withLock({ $0.register(entry, id: download.id) }) else {
                    placeIsFree()
                    continue
                }
                for event in events { await follow(event) }
            } catch {
                if isStopping { return }
                let (url, part) = Entry.origin(of: request)
                fail(error, name: url ?? part ?? "")
                placeIsFree()
            }
        }
        guard !isStopping, window.withLock({ $0.next == $0.requests.count }) else { return }
        let isNews = ledger.withLock { ledger in
            defer { ledger.isSubmitted = true }
            return !ledger.isSubmitted
        }
        if isNews { checkEnd() }
    }

    /// A failure of something that has no handle.
    private func fail(_ error: DownloadError, name: String) {
        ledger.withLock { $0.countFailed(ExitCode.of(error)) }
        reporter.failed(error, id: nil, name: name, command: nil, date: Date())
    }

    private func checkEnd() { if ledger.withLock({ $0.isDone }) { endNow.finish() } }

    /// A file has ended.
    func placeIsFree() {
        window.withLock { $0.freePlaces += 1 }
        checkEnd()
    }

    // MARK: Time and signals

    private func report() async {
        guard let interval = reporter.interval else { return }
        while (try? await Task.sleep(for: interval)) != nil {
            let open = ledger.withLock { $0.entries }.map(\.download.status)
            let whole = ledger.withLock { $0.whole(open) }
            reporter.tick(open, whole: whole, elapsed: elapsed, date: Date())
        }
    }

    var isStopping: Bool { ledger.withLock { $0.interruption != nil } }

    /// Stops as a job of a shell does, with a clean screen; returns when it is continued.
    private func suspend() async {
        reporter.suspend()
        await reporter.drained()
        SignalWatch.suspend()
        reporter.continued()
    }

    private func stop(_ signal: Int32, _ willLeave: (ExitCode) -> Void) async {
        let code = SignalWatch.exitCode(signal)
        ledger.withLock { $0.interruption = code }
        willLeave(code)
        reporter.clear()
        let isStream = plan.output.result == .body
        reporter.message(isStream ? "stopped" : "stopping; run the same command again to go on from here")
        await manager.shutdown()
        endNow.finish()
    }
}
