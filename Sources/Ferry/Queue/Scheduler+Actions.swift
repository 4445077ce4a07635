import FerryCore
import FerryEngine
import SystemPackage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// User actions on one download; each acquires the download's lock.
extension Scheduler {
    func perform(_ action: ListAction, on selection: ListSelection) async throws(DownloadError) {
        switch selection {
        case .one(let live): _ = try await act(action, on: live)
        case .all:
            let failures = try await perform(action, on: nil, session: nil).failures
            if let error = failures.values.first { throw error }
        }
    }

    /// Executes an action on one download. Returns false if the download was already in the state that the action leads to.
    func act(_ action: ListAction, on live: LiveDownload) async throws(DownloadError) -> Bool {
        let isPossible = live.current.actions.contains(action.single)
        switch action {
        case .pause(let stopsRetries):
            if stopsRetries, live.current.isFailed, try await stopRetrying(live) { return true }
            try await pause(live)
        case .resume(let triesServers): try await resume(live, triesServers: triesServers)
        case .cancel: try await cancel(live)
        case .restart: try await restart(live)
        case .remove(let deletes, let kinds): try await remove(live, deletingFile: deletes, ifIn: kinds)
        case .change(let change):
            if change.changesRequest { try await self.change(live) { change.apply(to: &$0) } }
            if let credentials = change.request.credentials { try await provide(credentials, to: live) }
        }
        return isPossible
    }

    private func pause(_ live: LiveDownload) async throws(DownloadError) {
        await live.lock.acquire()
        defer { live.lock.release() }
        guard try begins(.pause, on: live) else { return }
        if live.request.isStream {
            throw DownloadError(
                .notResumable, ErrorPhrase(.cannotPause, live.status.name, ErrorPhrase(.itIsAStream)))
        }
        try await holding(live, .pause) { _ throws(DownloadError) in
            // The run may have ended for another reason, or may itself have stored the pause.
            if try live.current.begins(.pause, on: live.status.name) { try await park([held(live)]) }
        }
    }

    /// Cancels the automatic retry of a failed download. Returns false if there is none.
    private func stopRetrying(_ live: LiveDownload) async throws(DownloadError) -> Bool {
        await live.lock.acquire()
        defer { live.lock.release() }
        guard live.current.isFailed, queue.isListed(live.id), queue.rest(of: live.id) != .parked else { return false }
        try await holding(live, .pause) { _ throws(DownloadError) in
            // The retry may have begun meanwhile; then it has been paused.
            if live.current.isFailed { try await park([held(live)]) }
        }
        return true
    }

    private func resume(_ live: LiveDownload, triesServers: Bool) async throws(DownloadError) {
        await live.lock.acquire()
        defer { live.lock.release() }
        guard try begins(.resume, on: live) else { return }
        pageRetries.forget(live.id)
        let old = live.current
        if triesServers { tryServersNow(of: live.request) }
        if old.isFailed { return try await retry(live) }
        guard old.followsQueue || old == .waiting(.diskSpace), let run = queue.tryNow(live.id) else {
            return try await enqueue([held(live)])
        }
        if let run {
            run.driver?.retryNow()
        } else {
            live.wait(for: queue.standing(of: live.id) ?? .slot, insteadOf: old)
        }
        told(live.id)
        reschedule()
        showStandings(of: [live])
    }

    /// Allows requests to the servers of a download although they have requested a delay, or are down.
    private func tryServersNow(of request: DownloadRequest) {
        // allow(origin): the health of a server; carries no secret.
        let origins = Set(request.sources.map(\.origin))
        engine.started?.book.tryNow { origins.contains($0) }
    }

    /// Queues a failed download again; the caller holds its lock.
    func retry(_ live: LiveDownload) async throws(DownloadError) {
        try await holding(live, .change) { _ throws(DownloadError) in
            // The automatic retry may have begun meanwhile; then it has been stopped.
            if live.current.isFailed { try await enqueue([held(live)]) }
        }
    }

    private func restart(_ live: LiveDownload) async throws(DownloadError) {
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
        // Replace only a file that this download published; a file that existed before belongs to the user.
        if live.finished?.wasAlreadyComplete == true { fields.append(.published(nil)) }
        try await enqueue([held(live)], with: fields, isRenewed: true)
    }

    private func cancel(_ live: LiveDownload) async throws(DownloadError) {
        await live.lock.acquire()
        defer { live.lock.release() }
        guard try begins(.cancel, on: live) else { return }
        try await holding(live, .cancel) { _ throws(DownloadError) in
            // The run may have ended for another reason, or may itself have stored the cancellation.
            if try live.current.begins(.cancel, on: live.status.name) { try await cancel([held(live)]) }
        }
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
                try await cancel([held(live)])
                throw error
            }
            guard let row = try await store?.row(live.id) else {
                throw DownloadError(.notFound, ErrorPhrase(.notListed, live.status.name))
            }
            let held = [held(live)]
            try await unlist(held, cancelling: held)
            // The part file is marked only after the removal from the list, because a list that is rebuilt from journals omits
            // marked downloads.
            let (id, syncs) = (live.id, live.request.syncsToDisk)
            await withFiles {
                PartFiles.setTaken(data.partPath, by: id, JournalTags(row), syncs: syncs, fileSystem: $0)
            }
            takenDirectories.insert(data.partDirectory)
            live.close()
            return data
        }
    }

    /// The resume data of a download that is no longer listed, for a caller that did not receive the response to
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
            guard found.record.id == id.rawValue else {
                throw DownloadError(.notResumable, ErrorPhrase(.partOfAnother, found.part))
            }
            guard found.claimedBytes > 0, session == nil || found.record.session == session else {
                throw DownloadError(.notResumable, ErrorPhrase(.nothingToResume))
            }
            return try ResumeData(found, in: directory, at: date)
        }
    }

    /// With `kinds`, throws `wrongState` if the download is in another state once the lock is acquired.
    private func remove(
        _ live: LiveDownload, deletingFile: Bool, ifIn kinds: Set<StateKind>?
    ) async throws(DownloadError) {
        await live.lock.acquire()
        defer { live.lock.release() }
        try checkMayAct(on: live)
        if let kinds, !kinds.contains(StateKind(live.current)) {
            throw live.current.refusal(of: .remove, on: live.status.name)
        }
        try await holding(live, .cancel) { _ throws(DownloadError) in
            let held = held(live)
            if deletingFile, let error = try await deleteFiles(of: [held])[live.id] { throw error }
            try await remove([held])
        }
    }

    /// Returns whether the action has to be performed; see ``DownloadState/begins(_:on:)``. Throws if the download is no longer
    /// listed.
    func begins(_ action: DownloadAction, on live: LiveDownload) throws(DownloadError) -> Bool {
        try checkMayAct(on: live)
        return try live.current.begins(action, on: live.status.name)
    }

    func checkMayAct(on live: LiveDownload) throws(DownloadError) {
        try checkIsOpen()
        if live.isClosed { throw DownloadError(.notFound, ErrorPhrase(.notListed, live.status.name)) }
    }

    // MARK: Out of the queue

    /// Changes a download while it is outside the queue and has no run; a run is stopped first. Afterwards the download has the
    /// state that the change has set, otherwise the state in which its run ended, otherwise its previous state.
    func holding<Value, Failure: Error>(
        _ live: LiveDownload, _ stop: Run.Stop, _ change: (Run?) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let run = queue.hold(live.id)
        run?.stop(stop)
        await run?.ended()
        defer {
            queue.endChange([live.id])
            updates.notify()
            reschedule()
            showStandings(of: [live])
        }
        return try await change(run)
    }

    /// Sets the state in the queue that a download has while it has no run.
    func rest(_ id: DownloadID, _ rest: QueueEntry.Rest) { queue.rest([id], rest) }

    /// The state of a download whose start date was set, and its state in the queue: waiting until that date, or queued if there is
    /// none or it has passed.
    func firstWait(of request: DownloadRequest) -> (DownloadState, QueueEntry.Rest) {
        let date = request.notBefore.flatMap { $0 > clock.date() ? $0 : nil }
        return (Self.wait(until: date), rest(until: date))
    }

    /// The state in the queue of a download that waits for a date.
    func waiting(for due: QueueEntry.Due) -> QueueEntry.Rest {
        .waiting(until: due.moment(at: clock.now(), wall: clock.date()), for: due)
    }

    /// The state in the queue of a download that may run from `date` on: waiting until then, or queued.
    func rest(until date: Date?, isRetry: Bool = false) -> QueueEntry.Rest {
        guard let date, date > clock.date() else { return .queued }
        return waiting(for: isRetry ? .retry(date) : .start(date))
    }
}
