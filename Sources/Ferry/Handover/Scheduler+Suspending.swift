import FerryCore
import FerryEngine
import Synchronization

/// The life of a manager whose app is suspended and resumed.
///
///     open ─► suspend: runs end, their bytes are synced and claimed, leases begin, the list is closed ─► suspended
///     suspended ─► activate: the list is opened again, what the system has not nearly fetched is taken back ─► open
///     suspended, idle or open ─► woken: landed files are spliced, complete downloads are published ─► suspended
///
/// While suspended the manager holds no lock: not the list's, not SQLite's, not those of part files and journals. Nothing is
/// marked as running, so that the end of the process is no crash of a download.
extension Scheduler {
    static let isSuspendedError = DownloadError(
        .wrongState, ErrorPhrase(.isSuspended), suggestion: ErrorPhrase(.activateFirst))

    /// Throws if the manager is suspended or shut down.
    func checkIsOpen() throws(DownloadError) {
        switch state.withLock({ $0.phase }) {
        case .idle, .open: return
        case .suspended: throw Self.isSuspendedError
        case .closing, .closed: throw Self.wasShutDown
        }
    }

    /// Stops all runs, leases what is missing to the system, and releases all locks.
    func suspend() async {
        let isPostponed = state.withLock { state in
            guard state.handover.postponements > 0 else { return false }
            state.handover.isSuspensionPostponed = true
            return true
        }
        if !isPostponed { await suspendNow() }
    }

    /// Calls the body; a suspension that the app asks for meanwhile, and does not end, follows it.
    func postponeSuspension(_ body: () async -> Void) async {
        state.withLock { $0.handover.postponements += 1 }
        await body()
        let isDue = state.withLock { state in
            state.handover.postponements -= 1
            guard state.handover.postponements == 0 else { return false }
            defer { state.handover.isSuspensionPostponed = false }
            return state.handover.isSuspensionPostponed
        }
        if isDue { await suspendNow() }
    }

    private func suspendNow() async {
        await BackgroundSession.expiringActivity {
            await lifeLock.acquire()
            defer { lifeLock.release() }
            await suspendInTurn()
        }
    }

    private func suspendInTurn() async {
        guard let (runs, ledger) = await beginSuspension() else { return }
        // Little time is left: what has landed, or is being spliced, goes on at the next start.
        let keeper = state.withLock { $0.handover.keeper }
        keeper?.hurry()
        // From here on the end of the process is no crash of a download.
        if let ledger { await withFiles { _ in ledger.endAll() } }
        var answered: [DownloadID: DownloadDriver.Answered] = [:]
        for (id, run) in runs {
            answered[id] = run.driver?.answered
            run.stop(.shutdown)
        }
        for run in runs.values { await run.ended() }
        // Additions and moves that are in progress.
        await listLock.acquire()
        listLock.release()
        let pump = state.withLock { $0.handover.pump }
        await pump?.value
        guard configuration.storage.isKept else { return }
        await settleHandover()
        await handOver(answered)
        let store = state.withLock { state in
            (state.ledger, state.vault) = (nil, SecretMemory())
            defer { state.store = nil }
            return state.store
        }
        await store?.close()
        engine.started?.renewConnections()
    }

    /// Begins a suspension; `nil` if nothing is open. A download into a stream goes on, since it could not be resumed.
    private func beginSuspension() async -> (runs: [DownloadID: Run], ledger: RunLedger?)? {
        await openLock.acquire()
        defer { openLock.release() }
        return state.withLock { state in
            switch state.phase {
            case .closing, .closed, .suspended: return nil
            case .idle:
                state.phase = .suspended
                return nil
            case .open: break
            }
            state.phase = .suspended
            state.handover.foregroundSince = nil
            state.handover.attempted = []
            state.handover.isReopening = true
            state.wakeTimer?.task.cancel()
            state.wakeTimer = nil
            state.pulse?.cancel()
            state.pulse = nil
            return (state.queue.runs.filter { !$1.isStream }, state.ledger)
        }
    }

    /// Opens the list, also after a suspension, and takes back what the system has not nearly fetched.
    func activate() async throws(DownloadError) {
        state.withLock { $0.handover.isSuspensionPostponed = false }
        await lifeLock.acquire()
        defer { lifeLock.release() }
        try await reopen()
        let keeper = state.withLock { state in
            guard state.phase == .open else { return nil as HandoverKeeper? }
            if state.handover.foregroundSince == nil { state.handover.foregroundSince = clock.now() }
            return state.handover.keeper
        }
        guard let keeper, !keeper.leases.isEmpty else { return }
        await readPlaces(of: Set(keeper.leases.map(\.download)))
        // What fails here is tried again by the next event, and at the latest by the next start.
        do throws(DownloadError) { try await keeper.cameToForeground() } catch { complain(error) }
        pumpHandover()
    }

    private func reopen() async throws(DownloadError) {
        let keeper = state.withLock { state in
            if state.phase == .suspended {
                state.phase = state.configuration.storage.isKept ? .idle : .open
                state.handover.isNew = true
            }
            return state.handover.keeper
        }
        keeper?.hasTime()
        _ = try await opened()
        reschedule()
    }

    // MARK: Wakes

    /// The system has resumed or started the app because transfers have ended. Splices what has landed, publishes what is
    /// complete, and suspends the manager again, unless the app is in the foreground. Calls `completion` once.
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
                    // Whatever waits is done at the next start.
                    isSpliced.open()
                }
                await group.next()
                group.cancelAll()
                isSpliced.open()
            }
        }
        await lifeLock.acquire()
        if state.withLock({ $0.handover.foregroundSince }) == nil { await suspendInTurn() }
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
        return state.withLock { $0.handover.keeper }
    }

    /// Waits until all files that have landed are spliced and their ends stored, and the downloads all of whose bytes are there
    /// have been published, or the task is cancelled. A run that has just begun postpones a splice until it is put back.
    private func awaitComplete(_ keeper: HandoverKeeper) async {
        while !Task.isCancelled {
            let seen = updates.count
            let ids = state.withLock { state in
                state.phase == .open ? state.queue.entries.filter { !$1.state.isParked }.map(\.key) : []
            }
            let isBusy = keeper.isDue || ids.contains { keeper.leases(of: $0).landed }
            guard let rows = try? await store?.rows(ids),
                isBusy || rows.contains(where: { $0.totalBytes != nil && $0.completedBytes == $0.totalBytes })
            else { return }
            await updates.wait(after: seen)
        }
    }

    // MARK: Opening again

    /// Shows what another process has changed while the list was closed. The entries are those that are stored now.
    func refreshHandles(_ entries: [IndexEntry], in store: any DownloadStore) async {
        let lives = registry.all
        guard !lives.isEmpty else { return }
        guard let rows = try? await store.rows(lives.map(\.id)) else { return }
        let known = Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
        for live in lives {
            guard let row = known[live.id] else {
                registry.remove(live.id)
                live.close()
                log.append(ListChange(removed: [live.id: live.session]))
                continue
            }
            live.show(row)
        }
    }
}

extension Scheduler.State {
    /// Puts the stored downloads into the queue, and removes those that another process has removed.
    mutating func replaceQueue(_ entries: [(IndexEntry, QueueEntry.Rest)]) -> ListChange {
        let (old, new) = (Set(queue.entries.keys), Set(entries.map(\.0.id)))
        for id in old.subtracting(new) { queue.take(.remove, of: id) }
        for (entry, rest) in entries { enter(entry, as: rest) }
        guard handover.isReopening else { return ListChange() }
        return ListChange(added: new.subtracting(old), removed: old.subtracting(new))
    }
}
