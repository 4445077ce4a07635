import FerryCore
import FerryEngine
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// User actions on one download; each acquires the download's lock.
extension Scheduler {
    func pause(_ live: LiveDownload) async throws(DownloadError) {
        await live.lock.acquire()
        defer { live.lock.release() }
        guard try begins(.pause, on: live) else { return }
        if live.request.isStream {
            throw DownloadError(
                .notResumable, ErrorPhrase(.cannotPause, live.status.name, ErrorPhrase(.itIsAStream)))
        }
        try await holding(live, .pause) { _ throws(DownloadError) in
            // The run may have ended otherwise, or have stored the pause itself.
            guard try live.current.begins(.pause, on: live.status.name) else { return }
            let event = DownloadEvent(id: live.id, date: clock.date(), kind: .paused)
            try await commit([.update(live.id, [.state(.paused)]), .record(event)])
            rest(live.id, .parked)
            takeBackLeases(of: live.id)
            live.set(state: .paused)
            send(.paused, of: live.id)
        }
    }

    func resume(_ live: LiveDownload) async throws(DownloadError) {
        await live.lock.acquire()
        defer { live.lock.release() }
        guard try begins(.resume, on: live) else { return }
        forgetPage(live.id)
        let old = live.current
        let run: Run?? = state.withLock { state in
            guard old.followsQueue || old == .waiting(.diskSpace), let entry = state.queue.listed(live.id),
                !entry.state.isParked
            else { return nil }
            state.queue.take(.wake, of: live.id)
            return .some(entry.state.run)
        }
        guard let run else { return try await join(live) }
        // Tries now.
        if let run {
            run.driver?.retryNow()
        } else {
            if let site = state.withLock({ $0.queue.site(of: live.id) }) { engine.started?.book.tryNow(site) }
            live.wait(for: standing(of: live.id) ?? .slot, insteadOf: old)
        }
        told(live.id)
        reschedule()
        showStandings(of: [live])
    }

    func restart(_ live: LiveDownload) async throws(DownloadError) {
        await live.lock.acquire()
        defer { live.lock.release() }
        if try begins(.restart, on: live) { try await renew(live) }
    }

    /// Downloads the file again from the beginning; the caller holds the download's lock.
    func renew(_ live: LiveDownload) async throws(DownloadError) {
        var fields: [RowField] = [
            .name(live.status.name, path: nil), .part(nil), .announced(nil),
            .progress(completedBytes: 0, totalBytes: nil),
        ]
        // Replace only a file that this download published; an already existing file is the user's.
        if live.finished?.wasAlreadyComplete == true { fields.append(.published(nil)) }
        try await join(live, with: fields, isRenewed: true)
    }

    /// Queues a download behind the others of its priority, or with `keepsPlace` where it was, and stores `fields` in the
    /// same transaction; with `isRenewed`, without what it has received. Throws, and changes nothing, if the list refuses.
    func join(
        _ live: LiveDownload, with fields: [RowField] = [], isRenewed: Bool = false, keepsPlace: Bool = false
    ) async throws(DownloadError) {
        let request = live.request
        let (waiting, place) = firstWait(of: request)
        let key = state.withLock { state in
            let own = keepsPlace ? state.queue.listed(live.id)?.key : nil
            return own ?? state.queue.takeKey(request.priority)
        }
        try await commit([
            .keys([StoreChange.KeyChange(live.id, key)]),
            .update(live.id, fields + [.state(waiting), .attempts(0, retryAt: nil)]),
        ])
        if isRenewed {
            withdrawLeases(of: live.id)
            await discardParts(live)
            live.forgetProgress()
            state.withLock { $0.queue.fetchAnew(live.id) }
        }
        live.set(state: waiting)
        state.withLock { state in
            state.queue.enter(
                live.id, key: key, rule: request.network, host: state.host(of: request), origin: request.site,
                session: live.session, as: place)
        }
        log.append(ListChange(changed: [live.id], moved: [live.id]))
        startHeartbeat()
        reschedule()
        showStandings(of: [live])
    }

    func cancel(_ live: LiveDownload) async throws(DownloadError) {
        await live.lock.acquire()
        defer { live.lock.release() }
        guard try begins(.cancel, on: live) else { return }
        try await holding(live, .cancel) { _ throws(DownloadError) in
            // The run may have ended otherwise, or have stored the cancellation itself.
            if try live.current.begins(.cancel, on: live.status.name) { try await end(live) }
        }
    }

    /// Cancels a held download, unless it is completed or cancelled.
    private func end(_ live: LiveDownload) async throws(DownloadError) {
        guard live.current.actions.contains(.cancel) else { return }
        // Before the list is written, which may need the space.
        await discardParts(live)
        do throws(DownloadError) { try await cancelled(live) } catch {
            live.forgetProgress()
            throw error
        }
    }

    /// Stores and reports that a download without parts is cancelled. Throws, and changes nothing, if the list refuses.
    func cancelled(_ live: LiveDownload) async throws(DownloadError) {
        let number = try await store(.cancelled, of: live.id)
        rest(live.id, .parked)
        withdrawLeases(of: live.id)
        await forgetSecrets(of: live.id)
        live.set(state: .cancelled, isEnd: true)
        send(.cancelled, of: live.id, number: number)
    }

    func cancelProducingResumeData(_ live: LiveDownload) async throws(DownloadError) -> ResumeData {
        await live.lock.acquire()
        defer { live.lock.release() }
        try checkMayAct(on: live)
        return try await holding(live, .cancelProducingResumeData) { _ throws(DownloadError) in
            guard live.current.actions.contains(.cancel) else {
                throw DownloadError(.wrongState, ErrorPhrase(.nothingLeft, live.status.name))
            }
            let data: ResumeData
            do throws(DownloadError) { data = try await resumeData(of: live.id, at: live.status.path) } catch {
                try await end(live)
                throw error
            }
            try await unlist(live)
            // Only after removal: a listed download must stay part of a list that is rebuilt from journals.
            let (id, syncs) = (live.id, live.request.syncsToDisk)
            await withFiles { PartFiles.setTaken(data.partPath, by: id, syncs: syncs, fileSystem: $0) }
            state.withLock { _ = $0.takenFrom.insert(FilePath(data.partDirectory)) }
            live.set(state: .cancelled)
            live.close()
            return data
        }
    }

    /// The resume data of a download that is no longer listed: for a caller that did not receive the response to
    /// ``cancelProducingResumeData(_:)``.
    func resumeData(
        of id: DownloadID, takenFrom path: String, session: String
    ) async throws(DownloadError) -> ResumeData {
        if try await opened().row(id) != nil { throw DownloadError(.wrongState, ErrorPhrase(.resumeDataUsed)) }
        return try await resumeData(of: id, at: path, session: session)
    }

    private func resumeData(
        of id: DownloadID, at path: String?, session: String? = nil
    ) async throws(DownloadError) -> ResumeData {
        let date = clock.date()
        var directory: String?
        if case .catalogue(_, let own, _) = configuration.storage { directory = own }
        return try await withFiles { [directory] files throws(DownloadError) in
            guard let path else { throw DownloadError(.notResumable, ErrorPhrase(.nothingYet)) }
            let found = try PartFiles.find(at: path, fileSystem: files)
            guard found.record.id == id.rawValue, found.claimedBytes > 0,
                session == nil || found.record.session == session
            else {
                throw DownloadError(.notResumable, ErrorPhrase(.nothingToResume))
            }
            return try ResumeData(found, in: directory, at: date)
        }
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
        try await holding(live, .cancel) { _ throws(DownloadError) in
            if live.current.isFailed { await discardParts(live) } else { try await end(live) }
            if deletingFile, let row = try await store?.row(live.id) { try await deleteFile(of: row) }
            try await unlist(live)
            live.close()
        }
    }

    /// Removes a download from the list and the store.
    private func unlist(_ live: LiveDownload) async throws(DownloadError) {
        let id = live.id
        try await store?.commit([.remove([id])])
        withdrawLeases(of: id)
        forgetPage(id)
        await forgetSecrets(of: id)
        state.withLock { state in
            state.queue.take(.remove, of: id)
            registry.remove(id)
        }
        log.append(ListChange(removed: [id: live.session]))
    }

    /// Deletes the published file if it is unchanged. A file that existed before the download is the user's.
    func deleteFile(of row: CatalogueRow) async throws(DownloadError) {
        let refusal = configuration.refusal
        try await withFiles(within: row.request.root) { files throws(DownloadError) in
            guard let finished = row.finished else {
                // The download was to be restarted; its earlier file is deleted only if unchanged.
                if let earlier = row.earlierFile {
                    try? PublishedFile.delete(earlier.path, ifUnchangedSince: earlier, fileSystem: files)
                }
                return
            }
            guard !finished.path.isEmpty, !finished.wasAlreadyComplete else { return }
            if let error = refusal?(finished.path) { throw error }
            try PublishedFile.delete(
                finished.path, ifUnchangedSince: row.published?.at(finished.path), fileSystem: files)
        }
    }

    /// Deletes the part file and journal of a download that is not running.
    private func discardParts(_ live: LiveDownload) async {
        guard let path = live.status.path else { return }
        let id = live.id
        await withFiles(within: live.request.root) { DownloadDriver.discard(path: path, id: id, fileSystem: $0) }
    }

    /// Whether the action is to begin; see ``DownloadState/begins(_:on:)``. Throws if the download is no longer listed.
    func begins(_ action: DownloadAction, on live: LiveDownload) throws(DownloadError) -> Bool {
        try checkMayAct(on: live)
        return try live.current.begins(action, on: live.status.name)
    }

    func checkMayAct(on live: LiveDownload) throws(DownloadError) {
        try checkIsOpen()
        if live.isClosed { throw DownloadError(.notFound, ErrorPhrase(.notListed, live.status.name)) }
    }

    // MARK: Out of the queue

    /// Changes a download outside of the queue and without a run; a run is stopped first. The state afterwards is that
    /// set by the change, else by the end of its run, else the previous one.
    func holding<Value, Failure: Error>(
        _ live: LiveDownload, _ stop: Run.Stop, _ change: (Run?) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let run = state.withLock { $0.queue.hold(live.id) }
        run?.stop(stop)
        await run?.ended()
        defer {
            state.withLock { $0.queue.take(.settle, of: live.id) }
            updates.notify()
            reschedule()
            showStandings(of: [live])
        }
        return try await change(run)
    }

    /// Sets the state of a download without a run.
    func rest(_ id: DownloadID, _ rest: QueueEntry.Rest) { state.withLock { $0.queue.take(.rest(rest), of: id) } }

    /// The state of a download that is to run from its start date on, and its place in the queue.
    func firstWait(of request: DownloadRequest) -> (DownloadState, QueueEntry.Rest) {
        let date = request.notBefore.flatMap { $0 > clock.date() ? $0 : nil }
        return (.waiting(date.map { .notBefore($0) } ?? .slot), rest(until: date))
    }

    /// A wall-clock date on the monotonic clock; distant dates are clamped to 1e12 s.
    func moment(of date: Date) -> Duration {
        clock.now() + .seconds(min(max(0, date.timeIntervalSince(clock.date())), 1e12))
    }

    /// The state of a download that is queued, from a future date on.
    func rest(until date: Date?) -> QueueEntry.Rest {
        guard let date, date > clock.date() else { return .queued }
        return .waiting(until: moment(of: date))
    }
}
