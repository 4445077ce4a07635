package import Ferry
import FerryCore
import Synchronization

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// Runs a plan: submits its files to the manager, follows their events, reports them, and reacts to signals.
///
///     submit ──► manager ──► events ──► follow ──► reporter
///         ▲                                │
///         └────── one slot per end ◄───────┘
///
/// The manager holds only a window of the list at a time, so memory does not grow with the list. One task both
/// submits and follows, so a handle is registered before any event of its file is handled.
package final class GetRun: Sendable {
    let plan: GetPlan
    let manager: DownloadManager
    let reporter: any RunReporting
    /// The sync whose files these are.
    private let sync: DirectorySync?
    let ledger = Mutex(Ledger())
    private let start = ContinuousClock.now
    /// The items not yet submitted, and the free slots of the manager.
    private struct Window {
        enum Next {
            case request(DownloadRequest)
            case directory(String)
            case unusable(String)
            /// All items are submitted.
            case end
        }

        var freePlaces: Int
        var items: PlannedItems.Iterator
        /// The part files of a directory that are not yet submitted, and their request.
        var parts: ArraySlice<String> = []
        var template: DownloadRequest?
        /// Whether there was no item yet.
        private(set) var isEmpty = true

        /// Returns the next item; `nil` if no slot is free.
        mutating func take() -> Next? {
            guard freePlaces > 0 else { return nil }
            if let part = parts.popFirst(), var request = template {
                request.destination = .part(part)
                freePlaces -= 1
                return .request(request)
            }
            let next = items.next()
            if next != nil { isEmpty = false }
            switch next {
            case .request(let request)?:
                freePlaces -= 1
                return .request(request)
            case .parts(let directory, let template)?:
                self.template = template
                return .directory(directory)
            case .unusable(let line)?: return .unusable(line)
            case nil: return .end
            }
        }
    }
    private let window: Mutex<Window>
    /// Finishes when the run is over.
    private let end: AsyncStream<Never>
    private let endNow: AsyncStream<Never>.Continuation

    package init(
        _ plan: GetPlan, manager: DownloadManager, reporter: any RunReporting, sync: DirectorySync? = nil
    ) {
        self.sync = sync
        self.plan = plan
        self.manager = manager
        self.reporter = reporter
        (end, endNow) = AsyncStream.makeStream()
        let freePlaces = max(64, 4 * min(1 << 16, plan.configuration.maxConcurrentDownloads))
        window = Mutex(Window(freePlaces: freePlaces, items: plan.items.makeIterator()))
    }

    var elapsed: Duration { ContinuousClock.now - start }

    /// Runs until all files have ended or a signal stops the run.
    ///
    /// - Parameters:
    ///   - signals: SIGINT, SIGTERM, SIGHUP, SIGTSTP and SIGCONT as they arrive.
    ///   - willLeave: Called at the first stopping signal, for example to limit the time of the shutdown.
    package func run(
        signals: AsyncStream<Int32>, willLeave: @escaping @Sendable (ExitCode) -> Void
    ) async -> ExitCode {
        let count = plan.items.countFiles()
        ledger.withLock { $0.expectedCount = count }
        let events = manager.events
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await self.handOver()
                for await event in events {
                    await self.follow(event)
                    await self.handOver()
                }
            }
            group.addTask {
                // The SIGCONT of our own suspension arrives when the bars are drawn again, and is ignored.
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
            // Ends the reports before the summary: a frame after it would stay on the screen.
            await withTaskGroup(of: Void.self) { reports in
                reports.addTask { await self.report() }
                for await _ in end {}
                // A stopping signal has already shut the manager down.
                if !isStopping { await manager.shutdown() }
                reports.cancelAll()
            }
            summarize()
            // Signals are still handled meanwhile, as the reader of standard output may be slow.
            await reporter.drained()
            group.cancelAll()
        }
        return ledger.withLock { $0.exitCode }
    }

    private func summarize() {
        reporter.clear()
        // After a stop, most received bytes belong to unfinished files, so a total would mislead.
        guard !isStopping else { return }
        let ledger = ledger.withLock { $0 }
        reporter.summary(ledger.whole([]), receivedBytes: ledger.receivedBytes, elapsed: elapsed)
    }

    // MARK: Submission

    /// Submits requests while slots are free.
    private func handOver() async {
        while !isStopping, let next = window.withLock({ $0.take() }) {
            switch next {
            case .request(let request): await submit(request)
            case .directory(let directory): await list(directory)
            case .unusable(let line):
                reporter.error(line)
                ledger.withLock { $0.note(.usage) }
            case .end:
                let isNews = ledger.withLock { $0.endSubmission() }
                if isNews, window.withLock({ $0.isEmpty }) { reporter.error(PlannedItems.empty.shown) }
                if isNews { checkEnd() }
                return
            }
        }
    }

    private func submit(_ request: DownloadRequest) async {
        do {
            let download = try await manager.download(request)
            let entry = Entry(request: request, download: download, startedAt: elapsed)
            if !ledger.withLock({ $0.register(entry, id: download.id) }) { placeIsFree() }
        } catch {
            if isStopping { return }
            let (url, part) = Entry.origin(of: request)
            fail(error, name: url ?? part ?? "")
            if case .file(let path) = request.destination { sync?.failed(error, path: path) }
            placeIsFree()
        }
    }

    /// Puts the part files of a directory first in the window.
    private func list(_ directory: String) async {
        do {
            let (parts, others) = try await manager.allPartFiles(in: directory)
            for other in others { reporter.message(PrintableText.escape(other.text(in: .current))) }
            if parts.isEmpty, others.isEmpty {
                reporter.message(("\(directory): no part files in it" as Reason).shown)
            }
            ledger.withLock { $0.expectedCount += parts.count }
            window.withLock { $0.parts = parts[...] }
        } catch {
            fail(error, name: directory)
        }
    }

    /// Reports the failure of a request without a handle.
    private func fail(_ error: DownloadError, name: String) {
        ledger.withLock { $0.countFailed(ExitCode.of(error)) }
        reporter.failed(error, id: nil, name: name, command: nil, date: Date())
    }

    private func checkEnd() { if ledger.withLock({ $0.isDone }) { endNow.finish() } }

    /// Frees the slot of an ended file.
    func placeIsFree() {
        window.withLock { $0.freePlaces += 1 }
        checkEnd()
    }

    // MARK: Time and signals

    private func report() async {
        guard let interval = reporter.interval else { return }
        // Files that begin and end between two reports count too.
        var meter = SpeedMeter(startingAt: .zero)
        var received: ByteCount = 0
        while (try? await Task.sleep(for: interval)) != nil {
            let (entries, ended) = ledger.withLock { ($0.entries, $0.receivedBytes) }
            let open = entries.map(\.download.status)
            let now = zip(entries, open).reduce(ended) { sum, one in
                sum.adding(max(0, one.1.progress.completedBytes - one.0.offset))
            }
            meter.record(max(0, now - received), at: elapsed)
            received = max(received, now)
            var whole = ledger.withLock { $0.whole(open) }
            whole.bytesPerSecond = meter.bytesPerSecond(at: elapsed)
            reporter.tick(open, whole: whole, elapsed: elapsed, date: Date())
        }
    }

    var isStopping: Bool { ledger.withLock { $0.interruption != nil } }

    /// Suspends the process as a shell job, with a clear screen. Returns when it is continued.
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
        let text: Reason = isStream ? "stopped" : "stopping; run the same command again to resume"
        reporter.message(text.shown)
        await manager.shutdown()
        endNow.finish()
    }
}

extension GetRun {
    /// Handles one event.
    func follow(_ event: DownloadEvent) async {
        guard let entry = ledger.withLock({ $0.entry(for: event) }) else { return }
        switch event.kind {
        case .completed(let file):
            let isOneOfFew = ledger.withLock {
                $0.close(event.id)
                $0.countFinished(file)
                return $0.expectedCount <= PlainProgress.fewFiles
            }
            await sync?.completed(file)
            // Entries of ended files are removed, as a list may be long.
            try? await entry.download.remove()
            reporter.completed(
                file, event: event, name: file.path.isEmpty ? entry.shownName : Paths.name(of: file.path),
                elapsed: elapsed - entry.startedAt, isOneOfFew: isOneOfFew)
            placeIsFree()
        case .failed(let error):
            await ended(entry, event, error)
        case .cancelled:
            await ended(entry, event, DownloadError(.cancelled, ErrorPhrase(.itWasCancelled)))
        case .waiting(.freshLink, let message):
            // The manager would wait for a new link. The command cannot wait; the part file remains for the next run.
            try? await entry.download.pause()
            await ended(entry, event, DownloadError(.freshLink, message, recovery: .needsUser))
        case .waiting(.credentials, let message):
            try? await entry.download.pause()
            await ended(entry, event, DownloadError(.credentials, message, recovery: .needsUser))
        case .started(let name, _):
            let now = elapsed
            ledger.withLock {
                $0.change(event.id) {
                    $0.name = name
                    $0.startedAt = now
                }
            }
            reporter.happened(event, name: name)
        case .resumed(let offset, _, _):
            // The name is in the journal, before any server has responded.
            let name = entry.name ?? entry.download.status.name
            ledger.withLock { ledger in
                ledger.change(event.id) { entry in
                    // Later ones are of bytes of this run.
                    if entry.name == nil { entry.offset = offset }
                    if !name.isEmpty { entry.name = name }
                }
            }
            reporter.happened(event, name: name.isEmpty ? entry.shownName : name)
        case .added, .retrying, .restarted, .waiting, .note, .paused:
            reporter.happened(event, name: entry.shownName)
        }
    }

    /// Handles a file that ended without success.
    private func ended(_ entry: Entry, _ event: DownloadEvent, _ error: DownloadError) async {
        // A shutdown is not a failure; the exit code reports it.
        let isShutDown = error.code == .shutDown && isStopping
        let isNews = ledger.withLock {
            let isOpen = $0.isOpen(event.id)
            $0.close(event.id)
            if isOpen, !isShutDown { $0.countFailed(ExitCode.of(error)) }
            return isOpen && !isShutDown
        }
        if isNews {
            let part = heldPart(of: entry)
            if let path = entry.destination { sync?.failed(error, path: path) }
            let command = ErrorText.command(after: error, part: part, url: entry.url)
            reporter.failed(error, id: event.id, name: entry.shownName, command: command, date: event.date)
            // Removing deletes a part file. Without one, the entry is removed, because a list may be long.
            if part == nil { try? await entry.download.remove() }
        }
        placeIsFree()
    }

    /// Returns the part file to resume from; `nil` if there is none.
    private func heldPart(of entry: Entry) -> String? {
        let candidates = [entry.part, entry.download.status.path.map { $0 + ".part" }]
        return candidates.compactMap(\.self).first { LocalFiles.kind(of: $0) == .file }
    }
}
