import FerryCore
import FerryEngine
import Foundation
import Synchronization

/// User actions on one download; each acquires the download's lock.
extension Scheduler {
    func pause(_ live: LiveDownload) async -> Bool {
        await live.lock.acquire()
        defer { live.lock.release() }
        guard mayAct(on: live) else { return false }
        // Bytes written into a stream cannot be resumed from a journal.
        if live.request.isStream { return false }
        var wasRunning = false
        while true {
            if let run = stopRun(live.id, .pause) {
                wasRunning = true
                await run.ended()
                continue
            }
            switch live.current {
            case .waiting, .downloading, .verifying: break
            case .paused: return wasRunning
            case .failed, .completed, .cancelled: return false
            }
            guard take(live.id) else { continue }
            await keep([
                .update(live.id, [.state(.paused)]),
                .record(DownloadEvent(id: live.id, date: clock.date(), kind: .paused)),
            ])
            live.set(state: .paused)
            send(.paused, of: live.id)
            told(live.id)
            reschedule()
            return true
        }
    }

    func resume(_ live: LiveDownload) async -> Bool {
        await live.lock.acquire()
        defer { live.lock.release() }
        guard mayAct(on: live) else { return false }
        let old = live.current
        switch old {
        case .paused, .failed, .waiting(.freshLink), .waiting(.credentials):
            await join(live)
            return true
        case .waiting:
            // Tries now.
            let (run, isQueued) = state.withLock { state in
                state.policy.ready(live.id)
                return (state.runs[live.id], state.policy.contains(live.id))
            }
            if run == nil, !isQueued {
                await join(live)
                return true
            }
            run?.driver?.retryNow()
            if run == nil { live.wait(for: standing(of: live.id) ?? .slot, insteadOf: old) }
            told(live.id)
            reschedule()
            return true
        case .downloading, .verifying, .completed, .cancelled: return false
        }
    }

    func restart(_ live: LiveDownload) async -> Bool {
        await live.lock.acquire()
        defer { live.lock.release() }
        guard mayAct(on: live), live.current.actions.contains(.restart) else { return false }
        await renew(live)
        return true
    }

    /// Downloads the file again from the beginning; the caller holds the download's lock.
    func renew(_ live: LiveDownload) async {
        var fields: [RowField] = [
            .name(live.status.name, path: nil), .part(nil), .announced(nil),
            .progress(completedBytes: 0, totalBytes: nil),
        ]
        // Replace only a file that this download published; an already existing file is the user's.
        if live.finished?.wasAlreadyComplete == true { fields.append(.published(nil)) }
        await discardParts(live)
        live.forgetProgress()
        state.withLock { _ = $0.renewed.insert(live.id) }
        await join(live, with: fields)
    }

    /// Queues a download behind the others of its priority, and stores `fields` in the same transaction.
    func join(_ live: LiveDownload, with fields: [RowField] = []) async {
        let request = live.request
        let host = request.sources.first?.host
        let notBefore = request.notBefore.flatMap { $0 > clock.date() ? $0 : nil }
        let reason = notBefore.map { WaitReason.notBefore($0) } ?? .slot
        let until = notBefore.map { moment(of: $0) }
        let key = state.withLock { $0.takeKey(request.priority) }
        await keep([
            .keys([StoreChange.KeyChange(live.id, key)]),
            .update(live.id, fields + [.state(.waiting(reason)), .attempts(0, retryAt: nil)]),
        ])
        live.set(state: .waiting(reason))
        state.withLock { state in
            // A failed download may be queued already for its automatic retry.
            state.leave(live.id)
            state.enter(
                live.id,
                at: QueueSpot(key, request.network, until: until, host: host, session: live.session))
        }
        list.tell { ListChange(changed: [live.id], isReordered: true) }
        startPulse()
        reschedule()
        showStandings(of: [live])
    }

    func cancel(_ live: LiveDownload) async -> Bool {
        await live.lock.acquire()
        defer { live.lock.release() }
        guard mayAct(on: live) else { return false }
        return await end(live, by: .cancel)
    }

    /// Ends a download for good; the caller holds the download's lock.
    private func end(_ live: LiveDownload, by stop: Run.Stop) async -> Bool {
        var wasRunning = false
        while let run = stopRun(live.id, stop) {
            wasRunning = true
            await run.ended()
        }
        switch live.current {
        case .completed: return false
        case .cancelled: return wasRunning
        case .waiting, .downloading, .verifying, .paused, .failed: break
        }
        leaveQueue(live.id)
        await discardParts(live)
        let number = await end(live.id, .cancelled)
        await forgetSecrets(of: live.id)
        live.set(state: .cancelled)
        send(.cancelled, of: live.id, number: number)
        told(live.id)
        reschedule()
        return true
    }

    func cancelProducingResumeData(_ live: LiveDownload) async throws(DownloadError) -> ResumeData {
        await live.lock.acquire()
        defer { live.lock.release() }
        try checkMayAct(on: live)
        while let run = stopRun(live.id, .cancelProducingResumeData) { await run.ended() }
        switch live.current {
        case .completed, .cancelled:
            throw DownloadError(.wrongState, ErrorPhrase(.nothingLeft, live.status.name))
        case .waiting, .downloading, .verifying, .paused, .failed: break
        }
        let spot = takeOut(live.id)
        let environment = engine.environment(for: configuration)
        let id = live.id
        let path = live.status.path
        let date = clock.date()
        let found: Result<ResumeData, DownloadError> = await environment.pool.run {
            do throws(DownloadError) {
                guard let path else { throw DownloadError(.notResumable, ErrorPhrase(.nothingYet)) }
                let found = try PartFiles.find(at: path, fileSystem: environment.fileSystem)
                guard found.record.id == id.rawValue, found.claimedBytes > 0 else {
                    throw DownloadError(.notResumable, ErrorPhrase(.nothingToResume))
                }
                return .success(try ResumeData(found, at: date))
            } catch { return .failure(error) }
        }
        guard case .success(let data) = found else {
            _ = await end(live, by: .cancel)
            return try found.get()
        }
        do throws(DownloadError) { try await unlist([live]) } catch {
            if let spot { comeBack(live, to: spot) }
            throw error
        }
        // Only after removal: a listed download must stay part of a list that is rebuilt from journals.
        let syncs = live.request.syncsToDisk
        await environment.pool.run {
            PartFiles.setTaken(data.partPath, by: id, syncs: syncs, fileSystem: environment.fileSystem)
        }
        state.withLock { _ = $0.takenFrom.insert(data.partDirectory) }
        live.set(state: .cancelled)
        live.close()
        reschedule()
        return data
    }

    func remove(_ live: LiveDownload, deletingFile: Bool) async throws(DownloadError) {
        try await remove(live, deletingFile: deletingFile, ifIn: nil)
    }

    /// As ``remove(_:deletingFile:)``; with `kinds`, only if the download is listed and in one of these states once
    /// the lock is acquired.
    func remove(
        _ live: LiveDownload, deletingFile: Bool, ifIn kinds: Set<StateKind>?
    ) async throws(DownloadError) {
        await live.lock.acquire()
        defer { live.lock.release() }
        if let kinds, live.isClosed || !kinds.contains(StateKind(live.current)) { return }
        try checkMayAct(on: live)
        // Prevents an automatic retry of a failed download meanwhile.
        let spot = takeOut(live.id)
        do throws(DownloadError) {
            let runs = state.withLock { $0.runs[live.id] != nil }
            if runs || !live.current.isFinal { _ = await end(live, by: .cancel) }
            if case .failed = live.current { await discardParts(live) }
            if deletingFile { try await deleteFile(of: live.id) }
            try await unlist([live])
        } catch {
            if let spot { comeBack(live, to: spot) }
            throw error
        }
        live.close()
    }

    /// Removes downloads from the list and the store.
    private func unlist(_ all: [LiveDownload]) async throws(DownloadError) {
        guard let store = state.withLock({ $0.store }) else { return }
        let ids = all.map(\.id)
        try await store.commit([.remove(ids)])
        for id in ids { await forgetSecrets(of: id) }
        state.withLock { state in
            for id in ids {
                readers.note(id)
                state.listed.remove(id)
                state.leave(id)
                registry.remove(id)
            }
        }
        list.tell { ListChange(removed: Set(ids)) }
    }

    /// Deletes the published file if it is unchanged. A file that existed before the download is the user's.
    func deleteFile(of id: DownloadID) async throws(DownloadError) {
        let environment = engine.environment(for: configuration)
        guard let row = try await state.withLock({ $0.store })?.row(id) else { return }
        let fileSystem = environment.fileSystem(within: row.request.root)
        guard let finished = row.finished else {
            // The download was to be restarted; its earlier file is deleted only if unchanged.
            guard let earlier = row.earlierFile else { return }
            return await environment.pool.run {
                try? PublishedFile.delete(earlier.path, ifUnchangedSince: earlier, fileSystem: fileSystem)
            }
        }
        guard !finished.path.isEmpty, !finished.wasAlreadyComplete else { return }
        let stamp = row.published
        let result: Result<Void, DownloadError> = await environment.pool.run {
            do throws(DownloadError) {
                try PublishedFile.delete(
                    finished.path, ifUnchangedSince: stamp?.file(at: finished.path), fileSystem: fileSystem)
                return .success(())
            } catch { return .failure(error) }
        }
        try result.get()
    }

    /// Deletes the part file and journal of a download that is not running.
    private func discardParts(_ live: LiveDownload) async {
        guard let path = live.status.path else { return }
        let environment = engine.environment(for: configuration)
        let (id, fileSystem) = (live.id, environment.fileSystem(within: live.request.root))
        await environment.pool.run { DownloadDriver.discard(path: path, id: id, fileSystem: fileSystem) }
    }

    /// False if the download is no longer listed or the manager is shut down.
    private func mayAct(on live: LiveDownload) -> Bool { !isShutDown && !live.isClosed }

    func checkMayAct(on live: LiveDownload) throws(DownloadError) {
        if isShutDown { throw Self.wasShutDown }
        if live.isClosed { throw DownloadError(.notFound, ErrorPhrase(.notListed, live.status.name)) }
    }

    /// Stops the run of a download and returns it; `nil` if it is not running.
    func stopRun(_ id: DownloadID, _ stop: Run.Stop) -> Run? {
        let run = state.withLock { $0.runs[id] }
        run?.stop(stop)
        return run
    }

    /// Removes a download from the queue; returns its former spot.
    private func takeOut(_ id: DownloadID) -> QueueSpot? {
        state.withLock { state in
            defer { state.leave(id) }
            return state.spot(of: id)
        }
    }

    /// Removes a waiting download from the queue. Returns false if it has been started meanwhile.
    private func take(_ id: DownloadID) -> Bool {
        state.withLock { state in
            guard state.runs[id] == nil else { return false }
            state.leave(id)
            return true
        }
    }
}
