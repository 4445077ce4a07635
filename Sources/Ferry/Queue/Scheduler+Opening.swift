import FerryCore
import FerryEngine
import Logging
import SystemPackage

/// Opening, resuming and closing the list.
extension Scheduler {
    /// The store, which is opened if needed.
    func opened() async throws(DownloadError) -> any DownloadStore {
        if let store = try look() { return store }
        await openLock.acquire()
        defer { openLock.release() }
        if let store = try look() { return store }
        return try await open()
    }

    private func look() throws(DownloadError) -> (any DownloadStore)? {
        switch queue.phase {
        case .idle: return nil
        case .open: return store
        case .suspended: throw Self.isSuspendedError
        case .closing, .closed: throw Self.wasShutDown
        }
    }

    private func open() async throws(DownloadError) -> any DownloadStore {
        let configuration = configuration
        guard case .catalogue(let identifier, let directory, let own) = configuration.storage else {
            throw DownloadError(.internal, "a list that is kept nowhere is open from the start")
        }
        let place = try StateDirectory.path(identifier: identifier, given: own)
        await PendingShutdowns.all.wait(at: place)
        let opening = try await Catalogue.open(directory: place, downloads: directory, metrics: metrics) {
            [weak self] error in
            self?.complain(error)
        }
        let store = opening.catalogue
        let paused: [DownloadID]
        do throws(DownloadError) {
            if let said = opening.note { configuration.log(LogEntry(.notice, "the list", details: "\(said)")) }
            let files = SecretStore(directory: place + "/secrets")
            let kept: any SecretVault =
                configuration.secretStorage.map { StoredSecrets($0, list: identifier, files: files) } ?? files
            let vault: any SecretVault = configuration.storesCredentials ? kept : SecretMemory()
            if opening.isNew {
                try await rebuild(store, vault, identifier: identifier, directory: directory)
            }
            if configuration.watchesNetwork {
                // Which downloads may start at once depends on the network.
                await monitor.start()
                see(monitor.current)
            }
            let stored = await dateRetries(try await store.load(), in: store)
            let (ledger, entries, crashed) = await openLedger(at: place, stored, in: store)
            paused = crashed
            // If secrets are no longer stored, the secrets from earlier processes are deleted.
            let unfinished = entries.filter { !$0.kind.isFinal || $0.kind == .failed }.map(\.id)
            await kept.sweep(keeping: configuration.storesCredentials ? Set(unfinished) : [])
            await refresh(entries, in: store)
            await finish(entries, in: store)
            await prepareHosts()
            let (parks, settings) = (configuration.parksListed, configuration.transfer)
            let downloads = entries.map { QueuedDownload($0, as: parks ? .parked : rest($0), through: settings) }
            let keeper = await openKeeper(at: place)
            let lost = await refreshHandles(in: store)
            storage.open(store, vault, ledger, damaged: opening.damaged)
            handover.willOpen(with: keeper)
            var change = queue.open(downloads)
            change.merge(ListChange(removed: lost))
            handover.didOpen()
            if !change.added.isEmpty || !change.removed.isEmpty { log.append(change) }
        } catch {
            await store.close()
            throw error
        }
        tellCrashes(of: paused)
        watchNetwork()
        updates.notify()
        pumpHandover()
        reschedule()
        return store
    }

    /// Updates the progress of downloads that were running or backing off when the process ended; their journals are more
    /// recent than the list.
    private func refresh(_ entries: [IndexEntry], in store: any DownloadStore) async {
        let kinds: Set<StateKind> = [.downloading, .verifying, .waitingToRetry]
        let running = entries.filter { kinds.contains($0.kind) }.map(\.id)
        guard !running.isEmpty, let rows = try? await store.rows(running) else { return }
        let changes: [StoreChange] = await environment.files.run { disk in
            rows.compactMap { row in
                guard let part = row.part,
                    let held = PartFiles.held(
                        at: part, by: row.id, fileSystem: disk.fileSystem(within: row.request.root))
                else { return nil }
                return .update(
                    row.id, [.progress(completedBytes: held.completedBytes, totalBytes: held.totalBytes)])
            }
        }
        store.submit(changes)
    }

    /// Finishes completions and moves that were interrupted by the end of the process.
    private func finish(_ entries: [IndexEntry], in store: any DownloadStore) async {
        let ids = entries.filter(\.leavesJournal).map(\.id)
        guard !ids.isEmpty, let rows = try? await store.rows(ids) else { return }
        let changes: [StoreChange] = await environment.files.run { [self] disk in
            rows.map { row in
                if let part = row.part {
                    PartFiles.finish(at: part, by: row.id, fileSystem: disk.fileSystem(within: row.request.root))
                }
                return .update(row.id, [.part(nil)] + settleMove(of: row, disk.fileSystem))
            }
        }
        store.submit(changes)
    }

    /// Rebuilds a lost list from the journals in the directories of its sessions. The marker of completeness is
    /// stored in the same transaction, so that an interrupted rebuild is repeated at the next opening.
    private func rebuild(
        _ store: Catalogue, _ vault: any SecretVault, identifier: String, directory: String
    ) async throws(DownloadError) {
        let hosted = configuration.hosted
        var seen: Set<FilePath> = []
        let places = ([directory] + hosted.directories).filter { seen.insert(FilePath($0)).inserted }
        let sessions = hosted.identifiers.union([identifier])
        let (now, reserve) = (clock.date(), configuration.minFreeBytes)
        var rows: [CatalogueRow] = await withFiles { files in
            places.flatMap { place in
                PartFiles.all(in: place, fileSystem: files) { found in
                    // Downloads that were cancelled with resume data belong to the app.
                    sessions.contains(found.record.session ?? "") && found.record.isTaken != true
                        ? CatalogueRow(found, reserve: reserve, at: now) : nil
                }
            }
        }
        rows.removeAll { !$0.id.canBeStored }
        for index in rows.indices where (try? await vault.secrets(of: rows[index].id)) != nil {
            rows[index].hasSecrets = true
        }
        var ids = Set(try await store.load().map(\.id))
        let lost = rows.filter { ids.insert($0.id).inserted }
        try await store.commit([.insert(lost), .complete])
        guard !lost.isEmpty else { return }
        configuration.log(
            LogEntry(.notice, "the list was lost; \(lost.count) downloads were found again by their journals"))
    }

    // MARK: Closing

    /// The state directory of the list; `nil` if the list is not stored.
    private var place: String? {
        guard case .catalogue(let identifier, _, let own) = configuration.storage else { return nil }
        return try? StateDirectory.path(identifier: identifier, given: own)
    }

    /// Shuts down after the last reference has been released.
    func released() {
        if isShutDown { return }
        // The next opening of the same list awaits this shutdown.
        PendingShutdowns.all.begin(at: place) { await self.shutdown() }
    }

    /// Stops all runs, keeps their bytes, and returns once everything is durable.
    func shutdown() async {
        await lifeLock.acquire()
        defer { lifeLock.release() }
        await openLock.acquire()
        defer { openLock.release() }
        guard let closing = queue.beginClosing() else { return }
        wakeTimer.set(closing.wake)
        heartbeat.stop()
        let pump = handover.willClose()
        // From here on, the end of the process counts as requested, not as a crash of a download.
        if let ledger = storage.ledger { await withFiles { _ in ledger.endAll() } }
        for run in closing.runs.values { run.stop(.shutdown) }
        await smallFetches.close()
        for run in closing.runs.values { await run.ended() }
        pump?.cancel()
        await pump?.value
        // End the retries before the list's lock is acquired, because a retry may wait for that lock.
        await pageRetries.close()
        // Wait for additions and moves that are in progress.
        await listLock.acquire()
        defer { listLock.release() }
        let lives = queue.close()
        let store = storage.close()
        handover.didClose()
        await networkTasks.close()
        await monitor.stop()
        for live in lives { live.close() }
        await engine.shutdown()
        await store?.close()
        networkHub.close()
        log.close()
        updates.notify()
    }

    /// Refuses new downloads, and returns once no download is running or queued.
    func drain() async -> Bool {
        queue.drain()
        do throws(DownloadError) { _ = try await opened() } catch { return false }
        while true {
            let seen = updates.count
            guard let isIdle = queue.isIdle, !Task.isCancelled else { return false }
            if isIdle { return true }
            await updates.wait(after: seen)
        }
    }
}

/// Downloads whose runs crash the process; they must not be restarted for ever.
extension Scheduler {
    /// Opens the ledger, and pauses downloads during whose runs the process died too often. Returns the updated entries and the
    /// identifiers of the paused downloads.
    func openLedger(
        at place: String, _ entries: [IndexEntry], in store: any DownloadStore
    ) async -> (ledger: RunLedger?, entries: [IndexEntry], paused: [DownloadID]) {
        let path = FilePath(place).appending("running")
        let ids = entries.filter(\.mayRun).map(\.id)
        let ledger: RunLedger? = await withFiles { files in
            let ledger = try? RunLedger.open(at: path, fileSystem: files)
            ledger?.keep(only: ids)
            return ledger
        }
        guard let ledger else {
            configuration.log(
                LogEntry(
                    .notice, "it is not known which downloads ended the program", details: "\(path) cannot be used"))
            return (nil, entries, [])
        }
        let paused = Set(ids.filter { ledger.crashes(of: $0) >= RunLedger.maxCrashes })
        guard !paused.isEmpty else { return (ledger, entries, []) }
        do throws(DownloadError) {
            try await store.commit(paused.map { .update($0, [.paused(.crashes), .attempts(0, retryAt: nil)]) })
            await withFiles { _ in for id in paused { ledger.end(id) } }
        } catch {
            // These downloads are still not started, and the ledger keeps the counts for the next opening.
            complain(error)
        }
        let changed = entries.map { entry in
            guard paused.contains(entry.id) else { return entry }
            var entry = entry
            entry.kind = .paused
            entry.wakeAt = nil
            return entry
        }
        return (ledger, changed, entries.map(\.id).filter { paused.contains($0) })
    }

    /// Reports that these downloads were paused, with the reason.
    func tellCrashes(of paused: [DownloadID]) {
        for id in paused {
            happened(.note(Reason.phrase(PauseReason.crashes.phrase)), to: id)
            happened(LocalizedEvent(.paused), to: id)
        }
    }
}

extension IndexEntry {
    /// Whether the download is started automatically, now or later.
    var mayRun: Bool {
        switch kind {
        case .waitingForSlot, .waitingForNetwork, .waitingToRetry, .waitingForDiskSpace, .waitingToStart, .downloading,
            .verifying:
            true
        case .failed: wakeAt != nil
        case .waitingForFreshLink, .waitingForCredentials, .paused, .completed, .cancelled: false
        }
    }
}
