import FerryCore
import FerryEngine
import Logging
import SystemPackage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One run, from the assignment of its slot to its end.
extension Scheduler {
    func perform(
        _ run: Run, _ id: DownloadID, _ environment: EngineEnvironment, on loop: (any TaskExecutor)?
    ) async {
        await mark(id, isRunning: true, environment)
        // Keep the object until the entry has changed, so that no object is created from a row that was read before the end.
        let live = await attempt(run, id, environment, on: loop)
        await mark(id, isRunning: false, environment)
        // The entry and the driver's report closure retain the run.
        queue.ended(id)
        run.released()
        if let site = run.site { environment.book.ended(site, gaveUp: run.gaveUp) }
        retryLanded(id)
        told(id)
        updates.notify()
        reschedule()
        if let live { showStandings(of: [live]) }
    }

    /// Returns the object of the download; `nil` if the download is no longer listed, or cannot be read.
    private func attempt(
        _ run: Run, _ id: DownloadID, _ environment: EngineEnvironment, on loop: (any TaskExecutor)?
    ) async -> LiveDownload? {
        let live: LiveDownload
        let outcome: DownloadDriver.Outcome
        do throws(DownloadError) {
            guard let (input, found) = try await begin(run, id) else {
                queue.lost(id)
                return nil
            }
            live = found
            if let until = holdForLeases(id) {
                rest(id, .waiting(until: until))
                return live
            }
            if live.current == .waiting(.diskSpace), let shortage = await shortage(input) {
                rest(id, .waiting(until: clock.now() + Self.spaceInterval))
                keepWaiting(live, after: shortage)
                return live
            }
            await revive(live, input)
            let settings = configuration.transfer
            guard queue.correct(run, QueueConditions(of: live.request, through: settings), of: id, environment.book)
            else { return live }
            if let refusal = refusal(of: run, input) {
                outcome = .failed(refusal)
            } else {
                outcome =
                    input.lacksSecrets
                    ? Self.lacksSecrets(input) : await drive(run, live, input, environment, on: loop)
            }
        } catch {
            guard let known = known(id) else {
                rest(id, .parked)
                return nil
            }
            live = known
            outcome = .failed(error)
        }
        count(run, of: live)
        await ended(run, live, outcome)
        return live
    }

    /// Records for the next process whether a download is running.
    private func mark(_ id: DownloadID, isRunning: Bool, _ environment: EngineEnvironment) async {
        // The system may terminate an app in the background at any time; this does not count as a crash.
        if isRunning, handsOver, !handover.isInForeground { return }
        guard let ledger = storage.ledger else { return }
        await withFiles { _ in isRunning ? ledger.begin(id) : ledger.end(id) }
    }

    /// Returns a failed download that is retried automatically to the waiting state.
    private func revive(_ live: LiveDownload, _ input: RunInput) async {
        guard case .failed = input.row.state else { return }
        await keep([.update(live.id, [.state(.waiting(.slot)), .attempts(input.row.attempts, retryAt: nil)])])
        live.set(state: .waiting(.slot))
    }

    @inline(never) private static func lacksSecrets(_ input: RunInput) -> DownloadDriver.Outcome {
        .failed(
            DownloadError(.credentials, ErrorPhrase(.credentialsNotKept, input.row.name), recovery: .needsUser))
    }

    /// How often a full disk is checked again.
    private static let spaceInterval: Duration = .seconds(5)

    /// Reports how much space is missing now; other programs use the disk too.
    private func keepWaiting(_ live: LiveDownload, after shortage: DownloadError) {
        guard shortage.message != live.status.waitError?.message else { return }
        keptStore?.submit([.update(live.id, [.waiting(.diskSpace, after: shortage)])])
        live.set(state: .waiting(.diskSpace), after: shortage)
    }

    private func shortage(_ input: RunInput) async -> DownloadError? {
        let (row, reserve) = (input.row, reserve(of: input.row))
        guard let directory = row.directory else { return nil }
        let (path, total, missing) = (row.path, row.totalBytes, row.totalBytes.map { max(0, $0 - row.completedBytes) })
        return await withFiles {
            PartFiles.shortage(
                at: path, in: directory, missing: missing, total: total, reserve: reserve, fileSystem: $0)
        }
    }

    private func drive(
        _ run: Run, _ live: LiveDownload, _ input: RunInput, _ environment: EngineEnvironment,
        on loop: (any TaskExecutor)?
    ) async -> DownloadDriver.Outcome {
        let isRenewed = queue.takeFetchAnew(live.id)
        run.leftFile = input.row.leftFile
        if input.row.announced != nil, let outcome = await recover(input) { return outcome }
        let driver = driver(for: run, live, input.row, environment, on: loop, isRenewed: isRenewed)
        await catchUp(driver, run, live.id, since: input.edits)
        guard run.begin(driver) else { return .stopped }
        return await driver.run()
    }

    @inline(never) private func driver(
        for run: Run, _ live: LiveDownload, _ row: CatalogueRow, _ environment: EngineEnvironment,
        on loop: (any TaskExecutor)?, isRenewed: Bool
    ) -> DownloadDriver {
        let configuration = configuration
        let driver = DownloadDriver(
            id: live.id, request: live.request, environment: environment, settings: configuration.driverSettings,
            context: context(of: row, at: live.status.path, run, configuration, isRenewed: isRenewed), loop: loop
        ) { [weak self, weak live] report in
            guard let self, let live else { return }
            self.take(report, of: live, in: run)
        }
        live.set(driver: driver)
        run.isStream = live.request.isStream
        return driver
    }

    private func context(
        of row: CatalogueRow, at path: String?, _ run: Run, _ configuration: DownloadManager.Configuration,
        isRenewed: Bool
    ) -> RunContext {
        var context = RunContext()
        context.partPath = row.part ?? path
        context.replaces = row.earlierFile
        context.first = firstExchanges.take(for: row.id)
        // A deliberate duplicate must not be completed with the first download's file.
        context.ignoresFinished =
            isRenewed || row.published != nil
            || isKept && row.request.onDuplicate == .addAnother
        if row.attempts > 0 {
            var retries = RetryMemory()
            retries.attempts = row.attempts
            context.retries = retries
        }
        guard isKept else { return context }
        context.throttle = queue.throttle(of: row.session)
        context.tags = JournalTags(row)
        context.observer = PublishObserver(scheduler: self, run: run, id: row.id)
        context.belongsToAnother = { [weak self] other in
            other != row.id.rawValue && self?.queue.isListed(DownloadID(rawValue: other)) == true
        }
        return context
    }

    /// The outcome of a small file that was being published when the process ended; `nil` if it was not published.
    private func recover(_ input: RunInput) async -> DownloadDriver.Outcome? {
        let row = input.row
        guard let file = row.announced else { return nil }
        let syncs = row.request.syncsToDisk
        let isThere = await withFiles(within: row.request.root) {
            (try? DownloadDriver.recoverAnnounced(file, syncs: syncs, fileSystem: $0)) ?? false
        }
        guard isThere else { return nil }
        return .completed(
            FinishedDownload(
                path: file.path, totalBytes: file.length, proof: .single,
                redactedFinalURL: row.request.sources.first?.redacted ?? ""))
    }

    // MARK: Driver reports

    private func take(_ report: DownloadDriver.Report, of live: LiveDownload, in run: Run) {
        switch report {
        case .event(let told):
            happened(told, to: live.id)
            switch told.kind {
            case .started, .resumed: run.begun()
            default: break
            }
        case .state(let new):
            run.retryAt = nil
            live.set(state: new)
            keep(.state(new), of: live, retryAt: nil)
            told(live.id)
        case .backsOff(let date, let error):
            run.retryAt = date
            keep(.waiting(.retry(at: date), after: error), of: live, retryAt: date)
            live.set(state: .waiting(.retry(at: date)), after: error)
            told(live.id)
            watchNetwork()
            reschedule()
        case .held(let date, let error):
            run.retryAt = date
            keep(.state(.waiting(.slot)), of: live, retryAt: nil)
            live.set(state: .waiting(.server(since: nil, until: date)), after: error)
            if let site = run.site, environment.book.isHeld(site) {
                // The download waits in the queue, with the other downloads of its server, until that server may receive requests
                // again.
                run.stop(.slot)
            } else {
                // Another server has requested the delay, for example that of a redirect.
                happened(.waiting(.server(since: nil, until: date), message: error.reason), to: live.id)
            }
            told(live.id)
            reschedule()
        case .named(let name, let path):
            live.set(name: name, path: path)
            let store = keptStore
            var fields: [RowField] = [.name(name, path: path), .part(path.map(Paths.part))]
            // From here on, the journal is more recent than the list, and the next launch reads the journals of running
            // downloads.
            if path != nil { fields.append(.state(.downloading)) }
            store?.submit([.update(live.id, fields)])
            told(live.id)
        }
    }

    // MARK: The end of a run

    private func ended(_ run: Run, _ live: LiveDownload, _ outcome: DownloadDriver.Outcome) async {
        let retryAt = run.retryAt
        run.retryAt = nil
        switch outcome {
        case .completed(let finished): await completed(finished, run, live)
        case .cancelled:
            do throws(DownloadError) { try await cancelled([held(live)]) } catch {
                complain(error)
                // A cancellation that the list refuses does not count.
                live.set(state: .waiting(.slot), isEnd: true)
                live.forgetProgress()
            }
        case .stopped: await stopped(run, live, retryAt: retryAt)
        case .failed(let error):
            // If the caller makes the attempts, a failed attempt does not mean that all attempts were used up.
            run.gaveUp = error.code == .network && configuration.waitsForServers
            await failed(explained(error, live), live)
        }
    }

    private func completed(_ found: FinishedDownload, _ run: Run, _ live: LiveDownload) async {
        let ending: Ending
        let number: Int64?
        var isStored = true
        if let recorded = run.recorded {
            // The download itself published the file, in this run or an earlier one.
            var finished = found
            finished.wasAlreadyComplete = false
            ending = Ending(.completed(finished, nil), at: recorded.date)
            number = recorded.number
            if recorded.leavesJournal { keptStore?.submit([.update(live.id, [.part(nil)])]) }
        } else {
            if !found.wasAlreadyComplete { await deleteLeftFile(of: run) }
            let known = run.driver?.publishedFile
            let file = if let known, known.path == found.path { known } else { await published(found) }
            (ending, number, isStored) = await end(live.id, .completed(found, file))
        }
        rest(live.id, .parked)
        withdrawLeases(of: [live.id])
        pageRetries.forget(live.id)
        // If the process ends before the end is stored, the next run needs the secrets; the opening after that removes them.
        if isStored { await forgetSecrets(of: [live.id], in: vault) }
        ended(live, ending, number)
    }

    private func stopped(_ run: Run, _ live: LiveDownload, retryAt: Date?) async {
        let attempts = live.driver?.retries.attempts ?? 0
        let progress = RowField.progress(live.driver?.progress() ?? live.status.progress)
        switch run.wish {
        case .pause, nil:
            let held = RowField.progress(await heldProgress(live))
            let pause = StoreChange.update(live.id, [.state(.paused), held, .attempts(attempts, retryAt: nil)])
            if run.wish == .pause {
                do throws(DownloadError) { try await commit([pause]) } catch {
                    complain(error)
                    // A pause that the list refuses does not count.
                    return live.set(state: .waiting(.slot), isEnd: true)
                }
            } else {
                await keep([pause])
            }
            rest(live.id, .parked)
            takeBackLeases(of: [live.id])
            live.set(state: .paused, isEnd: true)
            happened(LocalizedEvent(.paused), to: live.id)
        case .cancel:
            // The cancellation was too late for the driver, because the run had ended.
            live.set(state: .paused, isEnd: true)
        // Without its cancellation, which the list may refuse, a download goes on.
        case .slot, .network, .backOff, .change, .shutdown, .cancelProducingResumeData:
            var reason = WaitReason.slot
            var next: Date?
            var error: DownloadError?
            // A permitted network may be available again.
            if run.wish == .network, !queue.mayConnect(live.id) { reason = .network }
            if run.wish == .backOff, let retryAt, retryAt > clock.date() {
                next = retryAt
                reason = .retry(at: retryAt)
                error = live.status.waitError
                rest(live.id, waiting(for: .retry(retryAt)))
            }
            // A list in memory stores the count too; otherwise a download that yields its slot between attempts would never
            // give up.
            store?.submit([
                .update(
                    live.id,
                    isKept
                        ? [
                            error.map { .waiting(reason, after: $0) } ?? .state(.waiting(reason)), progress,
                            .attempts(attempts, retryAt: next),
                        ]
                        : [.attempts(attempts, retryAt: nil)])
            ])
            live.set(state: .waiting(reason), after: error, isEnd: true)
            if reason == .network {
                happened(.waiting(.network, message: queue.reportObstacle(to: live.id)), to: live.id)
            }
        }
    }

    private func failed(_ error: DownloadError, _ live: LiveDownload) async {
        let configuration = configuration
        let progress = RowField.progress(await heldProgress(live))
        if configuration.waitsForUser, let reason = error.userWait {
            rest(live.id, reason == .diskSpace ? .waiting(until: clock.now() + Self.spaceInterval) : .parked)
            await keep([.update(live.id, [.waiting(reason, after: error), progress])])
            live.set(state: .waiting(reason), after: error, isEnd: true)
            return happened(.waiting(reason, message: error.reason), to: live.id)
        }
        keptStore?.submit([.update(live.id, [progress])])
        let date = clock.date().asStored
        let retryAt = error.retryDate(after: configuration.retriesFailedAfter, from: date)
        let (ending, number, _) = await end(
            live.id, .failed(error), at: date, with: retryAt.map { [.attempts(0, retryAt: $0)] } ?? [])
        rest(live.id, retryAt.map { waiting(for: .retry($0)) } ?? .parked)
        ended(live, ending, number, retryAt: retryAt)
    }

    /// Returns the final progress of a run that has ended without completing its file, and shows it. The progress counts the bytes
    /// that the part file still contains.
    private func heldProgress(_ live: LiveDownload) async -> DownloadProgress {
        let (status, request) = (live.status, live.request)
        guard status.progress.completedBytes > 0, request.uploadTo == nil, let path = status.path,
            let part = DownloadPaths(final: FilePath(path))?.part
        else { return status.progress }
        let id = live.id
        let held = await withFiles(within: request.root) { files -> ByteCount? in
            if (try? files.exists(part)) == false { return 0 }
            return PartFiles.held(at: part.string, by: id, fileSystem: files)?.completedBytes
        }
        guard let held, held < status.progress.completedBytes else { return status.progress }
        live.holds(held)
        return live.status.progress
    }

    /// Shows and reports an end.
    private func ended(_ live: LiveDownload, _ ending: Ending, _ number: Int64?, retryAt: Date? = nil) {
        live.end(ending, retryAt: retryAt)
        log.append(event(ending.event, of: live.id, date: ending.date, number: number, session: live.session))
    }

    /// The error with the configured reason why this process may not write, if there is one.
    private func explained(_ error: DownloadError, _ live: LiveDownload) async -> DownloadError {
        guard error.code == .disk, let refusal = configuration.refusal, let row = try? await store?.row(live.id),
            let directory = row.directory
        else { return error }
        guard var known = await withFiles({ _ in refusal(directory) }) else { return error }
        known.underlying = error.message
        return known
    }
}

/// Storing states, events and ends of runs.
extension Scheduler {
    /// Stores a new state of a run, and the time of the next attempt, so that another process does not retry too early.
    private func keep(_ new: RowField, of live: LiveDownload, retryAt: Date?) {
        guard let store = keptStore else { return }
        var fields = [new]
        if let attempts = live.driver?.retries.attempts { fields.append(.attempts(attempts, retryAt: retryAt)) }
        store.submit([.update(live.id, fields)])
    }

    /// Stores and sends an event that is not an end.
    func happened(_ told: LocalizedEvent, to id: DownloadID) {
        let event = event(told, of: id)
        keptStore?.submit([.record(event)])
        log.append(event)
    }

    /// Makes changes durable. Throws if the list refuses them, or is closed.
    @discardableResult
    func commit(_ changes: [StoreChange]) async throws(DownloadError) -> [NumberedEvent] {
        guard let store else {
            try checkIsOpen()
            throw Self.wasShutDown
        }
        return try await store.commit(changes)
    }

    /// Like ``commit(_:)``, but logs an error instead of throwing it, so that the error does not stop the download. Changes that
    /// the disk refuses are stored once it accepts them. Returns the numbered events; `nil` if the changes are not stored yet.
    @discardableResult
    private func keep(_ changes: [StoreChange]) async -> [NumberedEvent]? {
        do throws(DownloadError) {
            return try await commit(changes)
        } catch {
            complain(error)
            if case .transient = error.recovery { store?.submit(changes) }
            return nil
        }
    }

    /// Stores the end of a download durably, with further fields; returns it with the number of its event, if events are kept,
    /// and whether it is stored already. It counts even if it is not, because the run has ended in any case.
    private func end(
        _ id: DownloadID, _ outcome: Ending.Outcome, at date: Date? = nil, with fields: [RowField] = []
    ) async -> (ending: Ending, number: Int64?, isStored: Bool) {
        let ending = Ending(outcome, at: date ?? clock.date(), isNumbered: isKept)
        let events = await keep([.end(id, ending)] + (fields.isEmpty ? [] : [.update(id, fields)]))
        return (ending, events?.first?.number, events != nil)
    }

    func complain(_ error: DownloadError) {
        configuration.log(LogEntry(.error, "the list of downloads could not be kept", details: "\(error)"))
    }

    /// Removes the secrets of ended downloads from the vault that the list had when their end was stored, because the list may
    /// have been closed since.
    func forgetSecrets(of ids: [DownloadID], in vault: any SecretVault) async { if isKept { await vault.remove(ids) } }
}
