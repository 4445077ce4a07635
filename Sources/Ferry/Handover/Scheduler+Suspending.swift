import FerryCore
import FerryEngine

/// The life of a manager whose app is suspended and resumed.
///
///     open ─► suspend: runs end, their bytes are synced and claimed, leases begin, the list is closed ─► suspended
///     suspended ─► activate: the list is opened again, transfers that are not nearly finished are taken back ─► open
///     suspended, idle or open ─► woken: landed files are spliced, complete downloads are published ─► suspended
///
/// While suspended, the manager holds no locks: neither the list's nor SQLite's, nor those of part files and journals. No
/// download is marked as running, so that the end of the process does not count as a crash of a download.
extension Scheduler {
    static let isSuspendedError = DownloadError(
        .wrongState, ErrorPhrase(.isSuspended), suggestion: ErrorPhrase(.activateFirst))

    /// Throws if the manager is suspended or shut down.
    func checkIsOpen() throws(DownloadError) {
        switch queue.phase {
        case .idle, .open: return
        case .suspended: throw Self.isSuspendedError
        case .closing, .closed: throw Self.wasShutDown
        }
    }

    /// Stops all runs, leases the missing bytes to the system, and releases all locks.
    func suspend() async {
        if handover.maySuspend() { await suspendNow() }
    }

    /// Calls `body`. A suspension that the app requests meanwhile, and does not cancel, takes place afterwards.
    func postponeSuspension(_ body: () async -> Void) async {
        handover.postpone()
        await body()
        if handover.endPostponement() { await suspendNow() }
    }

    private func suspendNow() async {
        await BackgroundSession.expiringActivity {
            await lifeLock.acquire()
            defer { lifeLock.release() }
            await suspendInTurn()
        }
    }

    private func suspendInTurn() async {
        guard let runs = await beginSuspension() else { return }
        // Little time is left; splicing of landed files continues at the next start.
        handover.keeper?.hurry()
        // From here on, the end of the process does not count as a crash of a download.
        if let ledger = storage.ledger { await withFiles { _ in ledger.endAll() } }
        var answered: [DownloadID: DownloadDriver.Answered] = [:]
        for (id, run) in runs {
            answered[id] = run.driver?.answered
            run.stop(.shutdown)
        }
        for run in runs.values { await run.ended() }
        // Wait for additions and moves that are in progress.
        await listLock.acquire()
        listLock.release()
        await handover.pumped()
        guard isKept else { return }
        await settleHandover()
        await handOver(answered)
        await storage.close()?.close()
        engine.started?.renewConnections()
    }

    /// Begins a suspension; `nil` if nothing is open. A download into a stream continues, because it could not be resumed.
    private func beginSuspension() async -> [DownloadID: Run]? {
        await openLock.acquire()
        defer { openLock.release() }
        guard let closing = queue.suspend() else { return nil }
        handover.willSuspend()
        wakeTimer.set(closing.wake)
        heartbeat.stop()
        return closing.runs.filter { !$1.isStream }
    }

    /// Opens the list, including after a suspension, and takes back the transfers that the system has not nearly finished.
    func activate() async throws(DownloadError) {
        handover.forgetSuspension()
        await lifeLock.acquire()
        defer { lifeLock.release() }
        try await reopen()
        guard queue.isOpen else { return }
        handover.cameToForeground(at: clock.now())
        guard let keeper = handover.keeper, !keeper.leases.isEmpty else { return }
        await readPlaces(of: Set(keeper.leases.map(\.download)))
        // A failed step is retried after the next event, or at the next start.
        do throws(DownloadError) { try await keeper.cameToForeground() } catch { complain(error) }
        pumpHandover()
    }

    private func reopen() async throws(DownloadError) {
        if queue.endSuspension(isKept: isKept) { handover.willReopen() }
        handover.keeper?.hasTime()
        _ = try await opened()
        reschedule()
    }

    // MARK: Wakes

    /// The system has resumed or launched the app because transfers have ended. Splices landed files, publishes complete
    /// downloads, and suspends the manager again, unless the app is in the foreground. Calls `completion` once.
    func woken(_ completion: @escaping HandoverKeeper.Completion) async {
        let keeper = await openForWake()
        if let keeper {
            let isSpliced = Latch()
            keeper.woken { isSpliced.open() }
            pumpHandover()
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    await isSpliced.wait()
                    await self.awaitComplete(keeper)
                }
                group.addTask { [clock, configuration] in
                    try? await clock.sleep(for: configuration.backgroundTransfer?.wakeLimit ?? .zero)
                    guard !Task.isCancelled else { return }
                    keeper.hurry()
                    keeper.timeIsUp()
                    // Pending work is done at the next start.
                    isSpliced.open()
                }
                await group.next()
                group.cancelAll()
                isSpliced.open()
            }
        }
        await lifeLock.acquire()
        if !handover.isInForeground { await suspendInTurn() }
        lifeLock.release()
        await completion()
    }

    private func openForWake() async -> HandoverKeeper? {
        await lifeLock.acquire()
        defer { lifeLock.release() }
        do throws(DownloadError) { try await reopen() } catch {
            complain(error)
            return nil
        }
        return handover.keeper
    }

    /// Waits until all landed files have been spliced, the ends of their leases are stored, and downloads with all bytes have been
    /// published, or until the task is cancelled. A run that has just begun postpones a splice until the run has been returned to
    /// the queue.
    private func awaitComplete(_ keeper: HandoverKeeper) async {
        while !Task.isCancelled {
            let seen = updates.count
            let ids = queue.unparked
            let isBusy = keeper.isDue || ids.contains { keeper.leases(of: $0).landed }
            guard let rows = try? await store?.rows(ids),
                isBusy || rows.contains(where: { $0.totalBytes != nil && $0.completedBytes == $0.totalBytes })
            else { return }
            await updates.wait(after: seen)
        }
    }

    // MARK: Opening again

    /// Shows the changes that another process made while the list was closed. Returns the sessions of the downloads that the
    /// other process removed.
    func refreshHandles(in store: any DownloadStore) async -> [DownloadID: String] {
        let lives = registry.all
        guard !lives.isEmpty, let rows = try? await store.rows(lives.map(\.id)) else { return [:] }
        let known = Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
        var lost: [DownloadID: String] = [:]
        for live in lives {
            guard let row = known[live.id] else {
                registry.remove(live.id)
                live.close()
                lost[live.id] = live.session
                continue
            }
            live.show(row)
        }
        return lost
    }
}
