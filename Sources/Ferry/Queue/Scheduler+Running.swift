import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// One run, from its slot to its end.
extension Scheduler {
    func perform(
        _ run: Run, _ id: DownloadID, _ environment: EngineEnvironment, on loop: (any TaskExecutor)?
    ) async {
        let live: LiveDownload
        let outcome: DownloadDriver.Outcome
        await mark(id, isRunning: true, environment)
        do throws(DownloadError) {
            guard let (input, found) = try await begin(run, id) else { return await dropped(id) }
            live = found
            if live.current == .waiting(.diskSpace), await isStillFull(input, environment) {
                await mark(id, isRunning: false, environment)
                return release(run, live, comingBack: comeback(live, after: Self.spaceInterval))
            }
            await revive(live, input)
            outcome =
                input.lacksSecrets ? Self.lacksSecrets(input) : await drive(run, live, input, environment, on: loop)
        } catch {
            guard let known = known(id) else { return await dropped(id) }
            live = known
            outcome = .failed(error)
        }
        await ended(run, live, outcome)
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

    private func isStillFull(_ input: RunInput, _ environment: EngineEnvironment) async -> Bool {
        let (row, floor) = (input.row, configuration.minFreeBytes)
        guard let directory = row.directory else { return false }
        let (path, total, missing) = (row.path, row.totalBytes, row.totalBytes.map { max(0, $0 - row.completedBytes) })
        return await environment.pool.run {
            !PartFiles.hasRoom(
                at: path, in: directory, missing: missing, total: total, floor: floor,
                fileSystem: environment.fileSystem)
        }
    }

    /// Ends the run of a download that is no longer listed.
    private func dropped(_ id: DownloadID) async {
        await mark(id, isRunning: false, engine.environment(for: configuration))
        state.withLock { state in
            state.leave(id)
            state.policy.stopped(id)
            state.runs[id] = nil
        }
        updates.notify()
        reschedule()
    }

    private func drive(
        _ run: Run, _ live: LiveDownload, _ input: RunInput, _ environment: EngineEnvironment,
        on loop: (any TaskExecutor)?
    ) async -> DownloadDriver.Outcome {
        let isRenewed = state.withLock { $0.renewed.remove(live.id) != nil }
        if input.row.announced != nil, let outcome = await recover(input, environment) { return outcome }
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
            context: context(of: row, at: live.status.path, run, configuration, isRenewed: isRenewed), light: loop
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
        // A duplicate added on purpose must not end with the first download's file.
        context.ignoresFinished =
            isRenewed || row.published != nil
            || configuration.storage.isKept && row.request.onDuplicate == .addAnother
        if row.attempts > 0 {
            var retries = RetryMemory()
            retries.attempts = row.attempts
            context.retries = retries
        }
        guard configuration.storage.isKept else { return context }
        context.throttle = throttle(of: row.session)
        context.tags = JournalTags(row)
        context.witness = PublishObserver(scheduler: self, run: run, id: row.id)
        context.belongsToAnother = { [weak self] other in
            other != row.id.rawValue && self?.isListed(DownloadID(rawValue: other)) == true
        }
        return context
    }

    /// The outcome of a small file that was being published when the process ended; `nil` if it was not published.
    private func recover(_ input: RunInput, _ environment: EngineEnvironment) async -> DownloadDriver.Outcome? {
        let row = input.row
        guard let file = row.announced.map(PublishedFile.init) else { return nil }
        let (syncs, fileSystem) = (row.request.syncsToDisk, environment.fileSystem(within: row.request.root))
        let isThere = await environment.pool.run {
            (try? DownloadDriver.recoverAnnounced(file, syncs: syncs, fileSystem: fileSystem)) ?? false
        }
        guard isThere else { return nil }
        return .completed(
            FinishedDownload(
                path: file.path, totalBytes: file.length, proof: .single,
                finalURL: row.request.sources.first?.redacted ?? ""))
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
            var backsOff = false
            if case .waiting(.retry(let at)) = new {
                run.retryAt = at
                backsOff = true
            } else {
                run.retryAt = nil
            }
            live.set(state: new)
            keep(new, of: live, retryAt: run.retryAt)
            told(live.id)
            if backsOff {
                watchNetwork()
                reschedule()
            }
        case .named(let name, let path):
            live.set(name: name, path: path)
            let store = keptStore
            var fields: [RowField] = [.name(name, path: path), .part(path.map { $0 + ".part" })]
            // From here on the journal knows more than the list, and the next launch reads the journals of running
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
        var comeback: Comeback?
        switch outcome {
        case .completed(let finished): await completed(finished, run, live)
        case .cancelled: await cancelled(live)
        case .stopped: comeback = await stopped(run, live, retryAt: retryAt)
        case .failed(let error): comeback = await failed(explained(error, live), run, live)
        }
        await mark(live.id, isRunning: false, engine.environment(for: configuration))
        release(run, live, comingBack: comeback)
    }

    /// Queue spot for the retry, and the state in which the download was left. If the state has changed since,
    /// another action won and the retry is dropped.
    private struct Comeback {
        var spot: QueueSpot
        var state: DownloadState
    }

    /// Removes a download from the queue, to return after a delay.
    private func comeback(_ live: LiveDownload, after delay: Duration, in new: DownloadState? = nil) -> Comeback? {
        let until = clock.now() + delay
        let spot = state.withLock { state in
            defer { state.leave(live.id) }
            return state.spot(of: live.id)
        }
        guard var spot else { return nil }
        spot.until = until
        return Comeback(spot: spot, state: new ?? live.current)
    }

    /// Ends the run and frees its slot.
    private func release(_ run: Run, _ live: LiveDownload, comingBack comeback: Comeback?) {
        state.withLock { state in
            state.runs[live.id] = nil
            state.policy.stopped(live.id)
            if state.doubtful.remove(live.id) != nil { state.review(live.id) }
            if let comeback, live.current == comeback.state, !state.policy.contains(live.id) {
                state.enter(live.id, at: comeback.spot)
            }
        }
        // The driver's report closure retains the run.
        run.letGo()
        told(live.id)
        updates.notify()
        reschedule()
        showStandings(of: [live])
    }

    private func completed(_ found: FinishedDownload, _ run: Run, _ live: LiveDownload) async {
        let recorded = run.recorded
        var finished = found
        // The download published the file itself, in this run or an earlier one.
        if recorded.isThere { finished.wasAlreadyComplete = false }
        var number = recorded.number
        if !recorded.isThere {
            number = await end(live.id, .completed(finished, stamp(of: finished)))
        } else if recorded.leavesJournal {
            keptStore?.submit([.update(live.id, [.part(nil)])])
        }
        leaveQueue(live.id)
        await forgetSecrets(of: live.id)
        live.set(state: .completed(finished.proof), finished: finished, isEnd: true)
        send(.completed(finished), of: live.id, number: number)
    }

    private func cancelled(_ live: LiveDownload) async {
        let number = await end(live.id, .cancelled)
        leaveQueue(live.id)
        await forgetSecrets(of: live.id)
        live.set(state: .cancelled, isEnd: true)
        send(.cancelled, of: live.id, number: number)
    }

    private func stopped(_ run: Run, _ live: LiveDownload, retryAt: Date?) async -> Comeback? {
        let retries = live.driver?.retries
        let progress = live.driver?.progress() ?? live.status.progress
        var fields: [RowField] = [
            .progress(completedBytes: progress.completedBytes, totalBytes: progress.totalBytes),
            .attempts(retries?.attempts ?? 0, retryAt: nil),
        ]
        var comeback: Comeback?
        switch run.wish {
        case .pause, .cancelProducingResumeData, nil:
            leaveQueue(live.id)
            fields.insert(.state(.paused), at: 0)
            await keep([.update(live.id, fields)])
            live.set(state: .paused, isEnd: true)
            happened(LocalizedEvent(.paused), to: live.id)
        case .cancel:
            // The cancellation came too late for the driver: the run was over.
            live.set(state: .paused, isEnd: true)
        case .slot, .network, .backOff, .change, .shutdown:
            // A network may be available again by now.
            let isBarred = run.wish == .network && state.withLock { $0.isBarred(live.id) }
            var reason: WaitReason = isBarred ? .network : .slot
            if run.wish == .backOff, let date = retryAt, date > clock.date() {
                reason = .retry(at: date)
                fields[1] = .attempts(retries?.attempts ?? 0, retryAt: date)
                comeback = self.comeback(live, after: moment(of: date) - clock.now(), in: .waiting(reason))
            }
            fields.insert(.state(.waiting(reason)), at: 0)
            keptStore?.submit([.update(live.id, fields)])
            live.set(state: .waiting(reason), isEnd: true)
            if isBarred {
                state.withLock { _ = $0.toldToWait.insert(live.id) }
                happened(.waiting(.network, message: Reason(.noNetworkAllowed)), to: live.id)
            }
        }
        return comeback
    }

    private func failed(_ error: DownloadError, _ run: Run, _ live: LiveDownload) async -> Comeback? {
        let configuration = configuration
        if configuration.waitsForUser, let reason = error.userWait {
            let progress = live.status.progress
            var comeback: Comeback?
            if reason == .diskSpace {
                comeback = self.comeback(live, after: Self.spaceInterval, in: .waiting(reason))
            } else {
                leaveQueue(live.id)
            }
            await keep([
                .update(
                    live.id,
                    [
                        .state(.waiting(reason)),
                        .progress(completedBytes: progress.completedBytes, totalBytes: progress.totalBytes),
                    ])
            ])
            live.set(state: .waiting(reason), isEnd: true)
            happened(.waiting(reason, message: error.reason), to: live.id)
            return comeback
        }
        let progress = live.status.progress
        keptStore?.submit([
            .update(
                live.id, [.progress(completedBytes: progress.completedBytes, totalBytes: progress.totalBytes)])
        ])
        let number = await end(live.id, .failed(error))
        var comeback: Comeback?
        if let delay = configuration.retriesFailedAfter, error.recovery != .permanent {
            comeback = self.comeback(live, after: delay, in: .failed(error))
            keptStore?.submit([
                .update(live.id, [.attempts(0, retryAt: clock.date().addingTimeInterval(delay.seconds))])
            ])
        } else {
            leaveQueue(live.id)
        }
        live.set(state: .failed(error), isEnd: true)
        send(.failed(error), of: live.id, number: number)
        return comeback
    }

    /// A wall-clock date on the monotonic clock; distant dates are clamped to 1e12 s.
    func moment(of date: Date) -> Duration {
        clock.now() + .seconds(min(max(0, date.timeIntervalSince(clock.date())), 1e12))
    }

    func leaveQueue(_ id: DownloadID) {
        state.withLock { $0.leave(id) }
    }
}

extension DownloadError {
    /// The reason to wait for, if this error can be resolved by the user or by free space.
    var userWait: WaitReason? {
        switch code {
        case .freshLink: .freshLink
        case .credentials: .credentials
        case .diskFull: .diskSpace
        default: nil
        }
    }
}
