package import FerryCore
import FerryEngine

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// New downloads: validated, compared with the list, stored together, and only then started.
extension Scheduler {
    typealias Added = (live: LiveDownload, isNew: Bool)

    /// Adds all requests or none; the results are in the order of the requests.
    func add(_ requests: [DownloadRequest]) async throws(DownloadError) -> [LiveDownload] {
        try await addAll(requests).map(\.live)
    }

    /// Like ``add(_:)``, but also returns which downloads were not listed before.
    func addAll(_ requests: [DownloadRequest]) async throws(DownloadError) -> [Added] {
        await prepareHosts()
        var answers = try await enlist(requests)
        // The list's lock is not held here, because the holder of a download's lock may be waiting for it.
        for index in answers.indices {
            while !answers[index].isNew, !(try await answer(requests[index], with: answers[index].live)) {
                // The download was removed before its lock was acquired.
                answers[index] = try await enlist([requests[index]])[0]
            }
        }
        return answers
    }

    /// Adds the requests that are not listed yet, while the list's lock is held.
    private func enlist(_ requests: [DownloadRequest]) async throws(DownloadError) -> [Added] {
        let store = try await beginListing(requests.map(\.network))
        defer { listLock.release() }
        // All requests of one call belong to one session.
        let plan = try await plan(requests, store)
        try check(plan)
        var added: [LiveDownload] = []
        let rows = plan.rows
        if !rows.isEmpty {
            try await vault.keep(plan.secrets)
            do throws(DownloadError) { try await store.commit([.insert(rows)]) } catch {
                await vault.remove(Array(plan.secrets.keys))
                throw error
            }
            added = enter(rows, plan.secrets)
        }
        var answers: [Added] = []
        for answer in plan.answers {
            switch answer {
            case .new(let index): answers.append((added[index], true))
            case .existing(let live): answers.append((live, false))
            }
        }
        reschedule()
        return answers
    }

    /// Acquires the list's lock, so that downloads with these network rules can be added. The caller must release the lock.
    func beginListing(_ rules: [NetworkRule]) async throws(DownloadError) -> any DownloadStore {
        let store = try await opened()
        await lookAtNetwork(for: rules)
        await listLock.acquire()
        guard queue.accepts else {
            listLock.release()
            try checkIsOpen()
            throw Self.wasShutDown
        }
        return store
    }

    private enum Answer {
        /// The row with this index.
        case new(Int)
        case existing(LiveDownload)
    }

    private struct Plan {
        var answers: [Answer] = []
        var rows: [CatalogueRow] = []
        var secrets: [DownloadID: Secrets] = [:]
        /// Identifiers that the requests specify; generated identifiers are unique.
        var wanted: [DownloadID] = []

        /// Adds a request for the same file as a planned row.
        mutating func request(again new: DownloadRequest, as row: Int) throws(DownloadError) {
            let request = rows[row].request(with: secrets[rows[row].id]).requested(again: new)
            try request.checkValues()
            let own = Secrets(of: request)
            (rows[row].request, rows[row].hasSecrets) = (request.stored, own != nil)
            secrets[rows[row].id] = own
            answers.append(.new(row))
        }
    }

    private func plan(
        _ requests: [DownloadRequest], _ store: any DownloadStore
    ) async throws(DownloadError) -> Plan {
        var plan = Plan()
        let now = clock.date().asStored
        let split = requests.map { (stored: $0.stored, secrets: Secrets(of: $0)) }
        let session = requests.first?.session
        let duplicates = isKept ? try await store.duplicates(of: split.map(\.stored), session: session) : []
        var seen: [SourcesAndPlace: Int] = [:]
        for (index, request) in requests.enumerated() {
            let (stored, secrets) = split[index]
            if isKept, request.onDuplicate != .addAnother {
                let listed = duplicates[index].first
                if request.onDuplicate == .fail, listed != nil || seen[SourcesAndPlace(stored)] != nil {
                    throw DownloadError(
                        .duplicate, ErrorPhrase(.alreadyListed, request.sources.first?.redacted ?? "this download"),
                        suggestion: ErrorPhrase(.useListed), recovery: .needsUser)
                }
                if let listed, let live = try await live(listed, in: store) {
                    plan.answers.append(.existing(live))
                    continue
                }
                if let first = seen[SourcesAndPlace(stored)] {
                    try plan.request(again: request, as: first)
                    continue
                }
            }
            let id = request.id ?? DownloadID.make()
            if request.id != nil { plan.wanted.append(id) }
            if isKept { seen[SourcesAndPlace(stored)] = plan.rows.count }
            plan.answers.append(.new(plan.rows.count))
            let key = queue.takeKey(request.priority)
            plan.rows.append(
                CatalogueRow(
                    id: id, session: request.session ?? configuration.storage.identifier ?? "", key: key,
                    state: request.firstState(at: now), name: request.firstName, request: stored,
                    hasSecrets: secrets != nil, label: request.label, userInfo: request.userInfo, createdAt: now))
            plan.secrets[id] = secrets
        }
        return plan
    }

    /// Throws if two requests have the same identifier, or if an identifier is already listed. Called before secrets are
    /// stored, because the vault may hold the secrets of the listed download under the same identifier.
    private func check(_ plan: Plan) throws(DownloadError) {
        var ids: Set<DownloadID> = []
        for id in plan.wanted where !ids.insert(id).inserted {
            throw DownloadError(.duplicate, ErrorPhrase(.sameIdentifier, "\(id)"))
        }
        if let taken = plan.wanted.first(where: queue.isListed) { throw .isListed(taken) }
    }

    /// Adds stored rows to the queue, counts them, and publishes events for them; returns their objects.
    func enter(_ rows: [CatalogueRow], _ secrets: [DownloadID: Secrets]) -> [LiveDownload] {
        let settings = configuration.transfer
        let entries = rows.map { row in
            let entry = row.entry
            return (queued: QueuedDownload(entry, of: row.request, as: rest(entry), through: settings), row: row)
        }
        let all = queue.enter(entries, secrets)
        metrics.added(rows.count)
        let date = clock.date()
        let events =
            log.isHeard
            ? rows.map { row in
                event(
                    .added(url: row.request.sources.first?.redacted ?? ""), of: row.id, date: date, number: nil,
                    session: row.session)
            } : []
        log.append(ListChange(added: Set(rows.map(\.id))), events)
        return all
    }

    /// The state without a run that a download gets when it is added, or found when the list is opened.
    func rest(_ entry: IndexEntry) -> QueueEntry.Rest {
        entry.mayRun ? rest(until: entry.wakeAt, isRetry: entry.kind != .waitingToStart) : .parked
    }

    /// Gives a listed download what a new request for the same file sets. If the download has ended, and its file is missing,
    /// changed, or not what the new request demands, it is queued again. Returns false if the download is no longer listed.
    private func answer(_ new: DownloadRequest, with live: LiveDownload) async throws(DownloadError) -> Bool {
        await live.lock.acquire()
        defer { live.lock.release() }
        // A shutdown closes all downloads and keeps their states.
        if isShutDown { return true }
        if live.isClosed { return false }
        let (old, hasSecrets) = (live.request, Secrets(of: new) != nil)
        if hasSecrets || old.requested(again: new) != old { try await take(new, for: live) }
        switch live.current {
        case .completed:
            if !(await isFulfilled(live, since: old)) {
                try await renew(live)
            } else if hasSecrets {
                await forgetSecrets(of: [live.id], in: vault)
            }
        case .failed: try await retry(live)
        case .cancelled: try await renew(live)
        case .waiting, .downloading, .verifying, .paused: break
        }
        return true
    }

    /// Whether the file of a completed download is still the published one and what its request demands, which was `old` when the
    /// file was published. Reads the file if its digest is not the demanded one.
    private func isFulfilled(_ live: LiveDownload, since old: DownloadRequest) async -> Bool {
        guard let row = try? await store?.row(live.id), let published = row.published, var finished = row.finished,
            await withFiles({ [finished] in published.at(finished.path).isUnchanged(fileSystem: $0) })
        else { return false }
        let request = live.request
        guard request.wantsSameFile(as: old), request.expectedBytes ?? finished.totalBytes == finished.totalBytes,
            finished.totalBytes <= request.maxBytes ?? finished.totalBytes
        else { return false }
        if let checksum = request.checksum, checksum != finished.checksum,
            checksum != old.checksum || finished.proof != .digest
        {
            let isIntact = await withFiles(within: request.root) { [finished] in
                Self.file(at: finished.path, checksum, length: finished.totalBytes, nil, $0)
                    == published.at(finished.path)
            }
            guard isIntact else { return false }
            (finished.checksum, finished.proof) = (checksum, .digest)
            guard (try? await commit([.update(live.id, [.file(finished, published)])])) != nil else { return false }
            live.set(state: .completed(.digest), finished: finished)
            told(live.id)
        }
        return finished.proof.isStrict || !request.trust.strict
    }
}

extension DownloadID {
    /// A new identifier of 64 random bits.
    package static func make() -> DownloadID { DownloadID(bits: .random(in: 0...UInt64.max)) }
}

extension DownloadRequest {
    /// The name to show until the server has responded.
    var firstName: String {
        switch destination {
        case .file(let path), .part(let path): Paths.name(of: path)
        case .directory(_, .exact(let name)): name
        case .directory, .stream: sources.first.map { SafeName.make(nil, url: $0, finalURL: nil) } ?? "download"
        }
    }

    func firstState(at now: Date) -> DownloadState {
        if startsPaused { return .paused }
        if let notBefore, notBefore > now { return .waiting(.notBefore(notBefore)) }
        return .waiting(.slot)
    }
}

extension DownloadRequest {
    package var isStream: Bool { if case .stream = destination { true } else { false } }
}

extension CatalogueRow {
    /// The directory of the download's file, absolute; `nil` for a stream.
    package var directory: String? {
        path.map(Paths.parent) ?? request.destination.directory
    }
}
