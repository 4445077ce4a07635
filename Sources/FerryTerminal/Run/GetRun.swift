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
///     submit ──► manager ──► events ──► follow ──► at each end: record, remove, report
///        │ ▲        ▲                               ▲        │
///        │ └────────│────────── one slot per end ◄──│────────┘
///        └──► small file, without a list entry ─────┘
///
/// The manager holds only a window of the list at a time, so memory does not grow with the list. Entries of lists and sets are
/// first requested without an entry in the manager's list; only those that turn out not to be small and plain are listed.
///
/// Order of locks: `order` is acquired before any mutex, and no two mutexes are held together.
package final class GetRun: Sendable {
    private let plan: GetPlan
    private let manager: DownloadManager
    private let reporter: any RunReporting
    /// The sync that the files belong to.
    private let sync: SetSync?
    /// The number of each argument with a query, from 1, by its URLs.
    private let argumentNumbers: [[DownloadURL]: Int]
    /// The lines of `--results`; `nil` for none.
    private let results: ResultsLog?
    private let ledger = Mutex(Ledger())
    /// The files that this run has completed or found complete.
    private let recent = Mutex(RecentPaths())
    private let repeated = Mutex(RepeatedEntries())
    private let start = ContinuousClock.now
    private let window: Mutex<SubmissionWindow>
    /// Reads lists that are still being written to; `nil` if there are none.
    private let feed: ItemFeed?
    /// Notified when a slot is freed.
    private let freed = AsyncEvent()
    /// The last value passed to the manager: whether the list may have entries of other hosts.
    private let expectsOthers = Atomic(false)
    /// Notified when entries have been set aside and more may follow.
    private let reading = AsyncEvent()
    /// The entries that are being requested without an entry in the manager's list.
    private let small: Mutex<SmallFiles>
    private let smallEnds = Mutex<[SmallEnd]>([])
    /// Notified when one of them has ended.
    private let smallEnded = AsyncEvent()
    /// Submitting and following exclude each other, so that a handle is registered before any event of its file is
    /// handled.
    private let order = AsyncLock()
    /// Finishes when the run is over.
    private let end: AsyncStream<Never>
    private let endNow: AsyncStream<Never>.Continuation

    package init(
        _ plan: GetPlan, manager: DownloadManager, reporter: any RunReporting, results: ResultsLog? = nil,
        sync: SetSync? = nil
    ) {
        self.sync = sync
        self.plan = plan
        self.manager = manager
        self.reporter = reporter
        self.results = results
        (end, endNow) = AsyncStream.makeStream()
        small = Mutex(SmallFiles(limit: max(1, plan.configuration.maxConcurrentDownloads)))
        argumentNumbers = plan.items.arguments.enumerated().reduce(into: [:]) { numbers, argument in
            guard let sources = argument.element.request?.sources, sources.first?.query != nil else { return }
            numbers[sources] = numbers[sources] ?? argument.offset + 1
        }
        let items = plan.items.makeIterator(resuming: results?.resumed)
        feed = plan.items.waits ? ItemFeed(items) : nil
        window = Mutex(
            SubmissionWindow(places: plan.window, share: plan.hostShare, items: items, isFed: feed != nil))
    }

    private var elapsed: Duration { ContinuousClock.now - start }

    /// Runs until all files have ended or a signal stops the run.
    ///
    /// - Parameters:
    ///   - signals: SIGINT, SIGTERM, SIGHUP, SIGTSTP and SIGCONT as they arrive.
    ///   - willLeave: Called at the first stopping signal, for example to limit the time of the shutdown.
    package func run(
        signals: AsyncStream<Int32>, willLeave: @escaping @Sendable (ExitCode) -> Void
    ) async -> ExitCode {
        let files = plan.items.estimateFiles()
        ledger.withLock { ($0.expectedCount, $0.isEstimate) = files }
        await beginResults()
        let events = manager.events
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await self.inOrder { await self.handOver() }
                await withDiscardingTaskGroup { ends in
                    for await event in events {
                        await self.inOrder {
                            if let end = await self.follow(event) { ends.addTask { await self.settle(end) } }
                            await self.handOver()
                        }
                    }
                }
            }
            group.addTask { await self.followSmall() }
            if let feed { group.addTask { await self.submit(from: feed) } }
            group.addTask { await self.readAhead() }
            group.addTask {
                // The SIGCONT that ends the program's own suspension arrives when the bars are drawn again, and is ignored.
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
                // A stop has already shut the manager down.
                if !isStopping { await manager.shutdown() }
                reports.cancelAll()
            }
            finishResults()
            summarize()
            // Signals are still handled meanwhile, because the reader of standard output may be slow.
            await reporter.drained()
            group.cancelAll()
        }
        return ledger.withLock { plan.allowsFailures ? $0.exitCodeAllowingFailures : $0.exitCode }
    }

    private func summarize() {
        reporter.clear()
        // After a stop, most received bytes belong to unfinished files, so a total would be misleading.
        guard !isStopping else { return }
        let ledger = ledger.withLock { $0 }
        reporter.summary(ledger.whole([]), receivedBytes: ledger.receivedBytes, elapsed: elapsed)
        // If few have failed, their lines are still on the screen.
        guard ledger.failedCount > PlainProgress.fewFiles, !ledger.failureText.isEmpty else { return }
        reporter.message(("failed, by reason: \(ledger.failureText)" as Reason).shown)
    }

    // MARK: Submission

    private func inOrder(_ body: () async -> Void) async {
        await order.acquire()
        await body()
        order.release()
    }

    /// Submits the items of lists that are still being written to, each as soon as it has arrived and a slot is free.
    private func submit(from feed: ItemFeed) async {
        while !isStopping, !Task.isCancelled {
            let seen = freed.count
            guard window.withLock({ $0.needsItem }) else {
                await freed.wait(after: seen)
                continue
            }
            let item = await feed.next()
            if isStopping || Task.isCancelled { return }
            window.withLock { $0.source = .given(item) }
            await inOrder { await handOver() }
            if item == nil { return }
        }
    }

    /// The number of entries that are read and set aside before events are handled again.
    private static let mostAside = 256

    /// Continues reading while entries are set aside and slots are free.
    private func readAhead() async {
        while !isStopping, !Task.isCancelled {
            let seen = reading.count
            await inOrder { await handOver() }
            await reading.wait(after: seen)
        }
    }

    /// Tells the manager whether to keep slots for other hosts, because the list may contain entries of them.
    private func expectOthers() {
        let mayHaveOthers = window.withLock { $0.mayHaveOthers }
        let isNews = expectsOthers.exchange(mayHaveOthers, ordering: .relaxed) != mayHaveOthers
        if isNews { manager.set(expectsOtherHosts: mayHaveOthers) }
    }

    /// Submits requests while slots are free.
    private func handOver() async {
        expectOthers()
        defer { expectOthers() }
        var aside = 0
        while !isStopping, hasRoom, let next = window.withLock({ $0.take() }) {
            switch next {
            case .request(let request, let place, let columns): await submit(request, place, columns)
            case .aside(let place):
                if let place, let results { await check(results.take(place)) }
                aside += 1
                if aside == Self.mostAside { return reading.notify() }
            case .directory(let directory): await list(directory)
            case .unusable(let line, let entry):
                reporter.error(line)
                ledger.withLock { if entry == nil { $0.note(.usage) } else { $0.countUnusable() } }
                if let entry { await recordUnusable(entry) }
            case .end:
                let isNews = ledger.withLock { $0.endSubmission() }
                if isNews, window.withLock({ $0.isEmpty }) { reportEmpty() }
                if isNews { checkEnd() }
                return
            }
        }
    }

    private func submit(_ request: DownloadRequest, _ place: ListPlace?, _ columns: JSONValue?) async {
        let subject = await take(request, place, columns)
        if await isStored(request, subject) { return placeIsFree(of: request.host) }
        await submit(RepeatedEntries.Item(request: request, place: place, subject: subject))
    }

    /// Submits an entry, unless it repeats one in progress.
    private func submit(_ item: RepeatedEntries.Item) async {
        guard repeated.withLock({ $0.begin(item) }) else { return }
        if let small = smallDownload(item) { manager.start(small) } else { await list(item) }
    }

    /// Adds an entry to the manager's list.
    ///
    /// - Parameter sent: The request that was sent for it already; `nil` if it was not tried without a list entry.
    private func list(_ item: RepeatedEntries.Item, continuing sent: SmallDownload.SentRequest? = nil) async {
        let (request, place, subject) = (item.request, item.place, item.subject)
        do {
            let download =
                if let sent { try await manager.download(request, continuing: sent) } else {
                    try await manager.download(submitted(request))
                }
            var entry = Entry(request: request, download: download, startedAt: elapsed, subject: subject)
            entry.mark = mark(of: request, place)
            if !ledger.withLock({ $0.register(entry, id: download.id) }) {
                await recordDuplicate(subject)
                _ = repeated.withLock { $0.end(request) }
                placeIsFree(of: request.host)
            }
        } catch {
            if isStopping { return }
            let (url, part) = Entry.origin(of: request)
            fail(
                ErrorText.advised(error, for: request.destination),
                name: url.map { Entry.shown($0, mark(of: request, place)) } ?? part ?? "")
            if case .file(let path) = request.destination { sync?.failed(error, path: path) }
            await record(error, subject, attempts: nil, date: Date())
            // No other entry has been submitted meanwhile, so no entry waits for this one.
            _ = repeated.withLock { $0.end(request) }
            placeIsFree(of: request.host)
        }
    }

    /// Ends the waiting entries that are equal to an ended one, with the same outcome. Other waiting entries are submitted.
    private func endRepeated(_ end: End) async {
        let items = repeated.withLock { $0.end(end.request) }
        for item in items where item.request == end.request {
            switch end.outcome {
            case .completed(let stored, let date): await recordDuplicate(item.subject, of: stored, date)
            case .failed(let error, let date): await record(error, item.subject, attempts: nil, date: date)
            // These entries remain open for the next run.
            case .shutDown: break
            }
            placeIsFree(of: item.request.host)
        }
        let others = items.filter { $0.request != end.request }
        guard !others.isEmpty else { return }
        await inOrder { for item in others where !isStopping { await submit(item) } }
    }

    /// Returns the text that distinguishes a URL with a hidden query from the other URLs of the run: the line of its list, or
    /// its position among the arguments. `nil` if the URL has no query, or the run has no other URL.
    private func mark(of request: DownloadRequest, _ place: ListPlace?) -> Reason? {
        // A sync reports files by their names in the set, and requests only some of them.
        guard sync == nil, reporter.tellsApart, request.sources.first?.query != nil else { return nil }
        if let place {
            let lists = plan.items.lists
            return lists.indices.contains(place.list) ? "line \(place.line) of \(lists[place.list].name)" : nil
        }
        guard plan.items.arguments.count > 1 || !plan.items.lists.isEmpty else { return nil }
        return argumentNumbers[request.sources].map { "URL \($0)" }
    }

    /// Puts the part files of a directory at the front of the window.
    private func list(_ directory: String) async {
        do {
            let (parts, refused, halves) = try await manager.allPartFiles(in: directory)
            for half in halves { reporter.message(PrintableText.escape(half.text(in: .current))) }
            for error in refused { fail(error, name: "") }
            if parts.isEmpty, refused.isEmpty, halves.isEmpty {
                reporter.message(("\(directory): no part files in it" as Reason).shown)
            }
            ledger.withLock { $0.expectedCount += parts.count }
            window.withLock { $0.parts = parts[...] }
        } catch {
            fail(error, name: directory)
        }
    }

    /// Reports the failure of a request that has no handle.
    private func fail(_ error: DownloadError, name: String) {
        ledger.withLock { $0.countFailed(error) }
        let error = plan.isOfSet ? SetAdvice.advised(error, repairs: plan.isOfRepair) : error
        reporter.failed(error, id: nil, name: name, command: nil, date: Date())
    }

    private func checkEnd() { if ledger.withLock({ $0.isDone }) { endNow.finish() } }

    /// Does the remaining work for a file that has ended, frees its slot, and submits further files.
    private func settle(_ end: End) async {
        await finish(end)
        await inOrder { await handOver() }
    }

    /// Does the remaining work for a file that has ended, and frees its slot.
    private func finish(_ end: End) async {
        await end.finish()
        await endRepeated(end)
        ledger.withLock { $0.settle() }
        placeIsFree(of: end.request.host)
    }

    /// Frees the slot of an ended file.
    private func placeIsFree(of host: String?) {
        window.withLock { $0.free(host) }
        freed.notify()
        checkEnd()
    }

    // MARK: Time and signals

    private func report() async {
        // Waits are reported even if progress is not.
        let interval = reporter.interval ?? .seconds(1)
        var waits = ServerWaits()
        // Also counts the bytes of files that start and end between two reports.
        var meter = SpeedMeter(startingAt: .zero)
        var received: ByteCount = 0
        while (try? await Task.sleep(for: interval)) != nil {
            let (entries, ended) = ledger.withLock { ($0.entries, $0.receivedBytes) }
            let open = entries.map(\.download.status)
            let now = zip(entries, open).reduce(ended) { sum, one in sum.adding(one.0.receivedBytes(one.1)) }
            meter.record(max(0, now - received), at: elapsed)
            received = max(received, now)
            var whole = ledger.withLock { $0.whole(open) }
            whole.bytesPerSecond = meter.bytesPerSecond(at: elapsed)
            let date = Date()
            for wait in waits.take(open, at: date) { reporter.waiting(wait, date: date) }
            if reporter.interval != nil { reporter.tick(open, whole: whole, elapsed: elapsed, date: date) }
        }
    }

    private var isStopping: Bool { ledger.withLock { $0.interruption != nil } }

    /// Suspends the process as a shell job, after clearing the drawn lines. Returns when it is continued.
    private func suspend() async {
        reporter.suspend()
        await reporter.drained()
        SignalWatch.suspend()
        reporter.continued()
    }

    private func stop(_ signal: Int32, _ willLeave: (ExitCode) -> Void) async {
        let isStream = plan.output.result == .body
        await stop(SignalWatch.exitCode(signal), willLeave) {
            reporter.message((isStream ? "stopped" : "stopping; run the same command again to resume" as Reason).shown)
        }
    }

    /// Stops all files, which the next run resumes, and ends the run with this code.
    private func stop(_ code: ExitCode, _ willLeave: (ExitCode) -> Void = { _ in }, report: () -> Void) async {
        ledger.withLock { $0.interruption = code }
        willLeave(code)
        reporter.clear()
        report()
        await manager.shutdown()
        endNow.finish()
    }
}

extension GetRun {
    /// The remaining work for a file that has ended. It does not wait for the work of other files.
    private struct End: Sendable {
        enum Outcome: Sendable {
            case completed(ContentStore.Stored, Date)
            case failed(DownloadError, Date)
            case shutDown
        }

        let request: DownloadRequest
        let outcome: Outcome
        let finish: @Sendable () async -> Void
    }

    /// Handles one event.
    private func follow(_ event: DownloadEvent) async -> End? {
        guard let entry = ledger.withLock({ $0.entry(for: event) }) else { return nil }
        switch event.kind {
        case .completed(let published):
            let stored: ContentStore.Stored
            do throws(DownloadError) { stored = try await self.stored(published, entry) } catch {
                return ended(entry, event, error)
            }
            ledger.withLock { $0.close(event.id) }
            return completed(
                stored, event, entry.request, entry.subject, attempts: entry.attempts, startedAt: entry.startedAt,
                name: entry.shownName
            ) {
                // Entries of ended files are removed, because a list may be long.
                try? await entry.download.remove()
            }
        case .failed(let error):
            return ended(entry, event, error)
        case .cancelled:
            return ended(entry, event, DownloadError(.cancelled, ErrorPhrase(.itWasCancelled)))
        case .waiting(.freshLink, let message):
            // The manager would wait for a new link. The command cannot wait; the part file remains for the next run.
            try? await entry.download.pause()
            var error = DownloadError(.freshLink, event.reason ?? .words(message), recovery: .needsUser)
            switch error.phrase?.key {
            case .pageInstead: error = error.suggesting(ErrorPhrase(.signInAgain))
            case .documentInstead, .unprovenInstead: error = error.suggesting(ErrorPhrase(.freshLinkOrThis))
            default: break
            }
            return ended(entry, event, error)
        case .waiting(.credentials, let message):
            try? await entry.download.pause()
            let error = DownloadError(.credentials, event.reason ?? .words(message), recovery: .needsUser)
            return ended(entry, event, error)
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
            // The name is in the journal before any server has responded.
            let name = entry.name ?? entry.download.status.name
            ledger.withLock { ledger in
                ledger.change(event.id) { entry in
                    // Later offsets include bytes of this run.
                    if entry.name == nil { entry.offset = offset }
                    if !name.isEmpty { entry.name = name }
                }
            }
            reporter.happened(event, name: name.isEmpty ? entry.shownName : name)
        case .retrying:
            ledger.withLock { $0.change(event.id) { $0.attempts += 1 } }
            reporter.happened(event, name: entry.shownName)
        case .added, .restarted, .waiting, .note, .paused:
            reporter.happened(event, name: entry.shownName)
        }
        return nil
    }

    /// Handles a completed file.
    ///
    /// - Parameters:
    ///   - name: The name for messages about a file without a path.
    ///   - remove: Removes its entry from the manager's list; called when its result is recorded.
    private func completed(
        _ stored: ContentStore.Stored, _ event: DownloadEvent, _ request: DownloadRequest, _ subject: ResultSubject?,
        attempts: Int, startedAt: Duration, name: String, remove: @escaping @Sendable () async -> Void = {}
    ) -> End {
        let file = stored.file
        let isRepeated = isRepeated(file, request)
        let isOneOfFew = ledger.withLock {
            if isRepeated { $0.countRepeated() } else { $0.countFinished(file) }
            return $0.expectedCount <= PlainProgress.fewFiles
        }
        return End(request: request, outcome: .completed(stored, event.date)) { [self] in
            await sync?.completed(file)
            if isRepeated {
                await recordDuplicate(subject, of: stored, event.date, attempts: attempts)
            } else {
                await record(stored, subject, attempts: attempts, date: event.date)
            }
            await remove()
            // For a set, only new files are reported; otherwise, each file once.
            let isNews = sync == nil ? !isRepeated : !file.wasAlreadyComplete
            if isNews || plan.output.result == .json {
                var event = event
                event.kind = .completed(file)
                reporter.completed(
                    file, event: event, name: file.path.isEmpty ? name : Paths.name(of: file.path),
                    elapsed: elapsed - startedAt, isOneOfFew: isOneOfFew)
            }
        }
    }

    /// Handles a file that ended without success.
    private func ended(_ entry: Entry, _ event: DownloadEvent, _ error: DownloadError) -> End {
        // A shutdown is not a failure; the exit code reports it.
        let isShutDown = error.code == .shutDown && isStopping
        let receivedBytes = entry.receivedBytes(entry.download.status)
        ledger.withLock {
            $0.close(event.id)
            if !isShutDown { $0.countFailed(error, receivedBytes: receivedBytes) }
        }
        return End(
            request: entry.request, outcome: isShutDown ? .shutDown : .failed(error, event.date)
        ) { [self] in
            guard !isShutDown else { return }
            await record(error, entry.subject, attempts: entry.attempts, date: event.date)
            let part = heldPart(of: entry)
            if let path = entry.destination { sync?.failed(error, path: path) }
            let command =
                plan.isOfSet
                ? nil
                : ErrorText.command(
                    after: error, part: part, url: entry.url, options: plan.givenOptions)
            let told =
                plan.isOfSet
                ? SetAdvice.advised(error, repairs: plan.isOfRepair)
                : ErrorText.advised(error, for: entry.request.destination)
            reporter.failed(told, id: event.id, name: entry.shownName, command: command, date: event.date)
            // Removing an entry deletes its part file. Without a part file, it is removed, because a list may be long.
            if part == nil { try? await entry.download.remove() }
        }
    }

    /// Returns the part file to resume from; `nil` if there is none.
    private func heldPart(of entry: Entry) -> String? {
        let candidates = [entry.part, entry.download.status.path.map(Paths.part)]
        return candidates.compactMap(\.self).first { LocalFiles.kind(of: $0) == .file }
    }
}

/// Entries of lists and sets, which are requested without an entry in the manager's list.
extension GetRun {
    private struct SmallEnd: Sendable {
        let item: RepeatedEntries.Item
        let startedAt: Duration
        let outcome: SmallDownload.Outcome
    }

    /// Whether another entry may be submitted now. A slot that a small file takes is soon free, so the next entry waits for it
    /// instead of taking a place in the manager's list.
    private var hasRoom: Bool {
        let listed = ledger.withLock { $0.openCount }
        return small.withLock { $0.hasRoom(besides: listed) }
    }

    /// Returns the entry as a small file, with a slot; `nil` if it must be listed.
    private func smallDownload(_ item: RepeatedEntries.Item) -> SmallDownload? {
        guard item.place != nil || sync != nil, !reporter.followsEvents, plan.contentNames == nil else { return nil }
        let listed = ledger.withLock { $0.openCount }
        guard small.withLock({ $0.begin(besides: listed) }) else { return nil }
        ledger.withLock { $0.beginUnlisted() }
        let startedAt = elapsed
        let download = manager.smallDownload(item.request) { [self] outcome in
            smallEnds.withLock { $0.append(SmallEnd(item: item, startedAt: startedAt, outcome: outcome)) }
            smallEnded.notify()
        }
        if download == nil { endSmall() }
        return download
    }

    /// Frees the slot of an entry that has ended, or is listed now.
    private func endSmall() {
        ledger.withLock { $0.endUnlisted() }
        small.withLock { $0.end() }
    }

    /// Handles the ends of requests without an entry in the manager's list, as many at a time as there are: free slots are filled
    /// first, and then the results are recorded.
    private func followSmall() async {
        while !Task.isCancelled {
            let seen = smallEnded.count
            let ended = smallEnds.withLock { ends in
                defer { ends.removeAll(keepingCapacity: true) }
                return ends
            }
            if ended.isEmpty {
                await smallEnded.wait(after: seen)
                continue
            }
            var ends: [End] = []
            await inOrder {
                for small in ended { if let end = await follow(small) { ends.append(end) } }
                await handOver()
            }
            for end in ends { await finish(end) }
            await inOrder { await handOver() }
        }
    }

    private func follow(_ small: SmallEnd) async -> End? {
        let (item, request) = (small.item, small.item.request)
        let end: End
        switch small.outcome {
        case .finished(let file, let notes):
            let event = DownloadEvent(id: DownloadID(bits: 0), date: Date(), kind: .completed(file))
            for note in notes {
                reporter.happened(
                    DownloadEvent(id: event.id, date: event.date, .note(note)), name: Paths.name(of: file.path))
            }
            end = completed(
                ContentStore.Stored(file), event, request, item.subject, attempts: 1, startedAt: small.startedAt,
                name: "")
        case .mustBeListed where isStopping: end = End(request: request, outcome: .shutDown) {}
        case .mustBeListed(let sent):
            await list(item, continuing: sent)
            endSmall()
            return nil
        }
        ledger.withLock { $0.closeUnlisted() }
        endSmall()
        return end
    }
}

/// Files that are named by their content: `--dedup`.
extension GetRun {
    /// Returns the store for a request's file, and a function that returns the file's name for its digest; `nil` for a file
    /// that is not named by content.
    private func place(
        of request: DownloadRequest
    ) -> (store: ContentStore, name: @Sendable (String) throws(DownloadError) -> String)? {
        guard let names = plan.contentNames, let url = request.sources.first,
            case .directory(let directory, _) = request.destination
        else { return nil }
        var store = ContentStore(directory: OwnProgram.plain(directory))
        store.syncs = request.syncsToDisk
        return (
            store,
            { digest throws(DownloadError) in
                do throws(UsageError) { return try names.path(for: url, content: digest) } catch {
                    throw DownloadError(error.code, error.reason, recovery: .needsUser)
                }
            }
        )
    }

    /// Returns the request to submit: a file that is named by its content is staged until it is complete.
    private func submitted(_ request: DownloadRequest) -> DownloadRequest {
        place(of: request)?.store.staged(request) ?? request
    }

    /// Ends a request whose content is already stored, according to the digest in the list. Returns false if it is not
    /// stored.
    private func isStored(_ request: DownloadRequest, _ subject: ResultSubject?) async -> Bool {
        guard let (store, name) = place(of: request), let file = await store.file(with: request.checksum, name) else {
            return false
        }
        let event = DownloadEvent(id: .make(), date: Date(), kind: .completed(file))
        ledger.withLock { $0.countFinished(file) }
        await record(ContentStore.Stored(file), subject, attempts: nil, date: event.date)
        reporter.completed(file, event: event, name: Paths.name(of: file.path), elapsed: .zero, isOneOfFew: false)
        return true
    }

    /// Renames the completed file of an entry after its content.
    private func stored(_ file: FinishedDownload, _ entry: Entry) async throws(DownloadError) -> ContentStore.Stored {
        guard let (store, name) = place(of: entry.request) else {
            return ContentStore.Stored(file)
        }
        return try await store.store(file, name)
    }
}

/// The lines of `--results`.
extension GetRun {
    /// Continues the counts of earlier runs, and reports this.
    private func beginResults() async {
        guard let results else { return }
        if let notice = results.notice { reporter.message(notice.shown) }
        if let counts = results.resumed?.counts { ledger.withLock { $0.goOn(counts) } }
        await check(results.begin())
    }

    private func finishResults() {
        guard let reason = results?.finish() else { return }
        reporter.error(failure(reason))
        ledger.withLock { $0.note(.disk) }
    }

    /// Reports that the plan has no items. With `--shard`, an empty plan is normal and is not reported.
    private func reportEmpty() {
        let items = plan.items
        if let results, results.resumed?.last != nil {
            let command = "--retry-from \(ShellWord.quote(results.name))"
            let text: Reason =
                results.counts.failed == 0
                ? "\(results.name): no entry is left"
                : "\(results.name): no entry is left; \(command) requests those that failed"
            reporter.message(text.shown)
        } else if let list = items.lists.first, list.results != nil {
            reporter.message(("\(list.name): no failure in it to request again" as Reason).shown)
        } else if items.shard == nil {
            reporter.error(PlannedItems.empty.shown)
        }
    }

    /// Records that a request was taken from the plan. Returns the subject of its result; `nil` without results.
    private func take(_ request: DownloadRequest, _ place: ListPlace?, _ columns: JSONValue?) async -> ResultSubject? {
        guard let results else { return nil }
        if let place { await check(results.take(place)) }
        return ResultSubject(
            request: request, place: place, list: results.listNumber(of: place), columns: columns)
    }

    /// Records the end of a completed file. `attempts` is `nil` if the file was not requested.
    private func record(_ stored: ContentStore.Stored, _ subject: ResultSubject?, attempts: Int?, date: Date) async {
        guard let results, let subject else { return }
        var line = ResultLine.completed(stored.file, subject, attempts: attempts, date)
        if plan.contentNames != nil { line = line.naming(stored) }
        await check(results.end(line, subject.place?.key, .completed))
    }

    /// Whether a completed file is the file of an earlier entry of the run.
    private func isRepeated(_ file: FinishedDownload, _ request: DownloadRequest) -> Bool {
        // Under this rule, an existing file is kept only if it has the same bytes from the same URL.
        guard plan.contentNames == nil, request.onConflict == .rename, !file.path.isEmpty else { return false }
        // A caller that assigns identifiers needs a report for each download.
        guard request.id == nil else { return false }
        return !recent.withLock { $0.insert(file.path) }
    }

    /// Records an entry whose file is that of another entry.
    private func recordDuplicate(
        _ subject: ResultSubject?, of stored: ContentStore.Stored, _ date: Date, attempts: Int? = nil
    ) async {
        guard let results, let subject else { return }
        var line = ResultLine.completed(stored.file, subject, attempts: attempts, date)
        if plan.contentNames != nil { line = line.naming(stored) }
        line.status = .duplicate
        await check(results.end(line, subject.place?.key, .duplicate))
    }

    private func record(_ error: DownloadError, _ subject: ResultSubject?, attempts: Int?, date: Date) async {
        guard let results, let subject else { return }
        let line = ResultLine.failed(error, subject, attempts: attempts, date)
        await check(results.end(line, subject.place?.key, .failed(ExitCode.of(error))))
    }

    private func recordDuplicate(_ subject: ResultSubject?) async {
        guard let results, let subject else { return }
        await check(results.end(ResultLine(subject, .duplicate, Date()), subject.place?.key, .duplicate))
    }

    private func recordUnusable(_ entry: UnusableEntry) async {
        guard let results else { return }
        await check(results.take(entry.place))
        let line = ResultLine.unusable(entry, list: results.listNumber(of: entry.place), Date())
        await check(results.end(line, entry.place.key, .unusable))
    }

    /// Stops the run if its results cannot be written: the next run would request the files of this one again.
    private func check(_ reason: Reason?) async {
        guard let reason else { return }
        await stop(.disk) { reporter.error(failure(reason)) }
    }

    private func failure(_ reason: Reason) -> String {
        ("\(results?.name ?? ""): the results cannot be written: \(reason)" as Reason).shown
    }
}
