import Ferry
import FerryCore
import FerryTerminal

/// The files: their downloads in the manager's list, and how they end.
extension FleetWorker {
    /// The member of a download's user info that names its row and lease.
    private static let mark = "fleet"
    /// The attempts of a file of a host with a budget, each of which is a start of its own.
    private static let mostAttempts = 5

    /// Finds the rows in the list of an earlier process. What belongs to another worker now leaves the list, its part file
    /// stays.
    func findListed() async throws(DownloadError) {
        var found: [Int64: [RowKey]] = [:]
        let held = Set(machine.unread.map(\.number))
        for download in try await manager.downloads() {
            let words = (download.request.userInfo[Self.mark] ?? "").split(at: " ").compactMap { Int64($0) }
            guard words.count == 3, held.contains(words[2]) else {
                await Self.leave(download)
                continue
            }
            let key = RowKey(batch: Int(words[0]), number: words[1])
            (downloads[key], keys[download.id]) = (download, key)
            found[words[2], default: []].append(key)
        }
        listed = found
    }

    /// Enters what was found in the list: what has ended is reported, what has not goes on.
    func adopt(_ listed: [Int64: [RowKey]]) async throws(DatabaseError) {
        for lease in machine.unread {
            let rows = try await store.rows(of: lease)
            // Files end meanwhile: their states are looked at now, and each later end finds its row.
            var running: Set<RowKey> = []
            var ended: [RowKey: FleetResult] = [:]
            for key in listed[lease.number] ?? [] {
                guard let download = downloads[key] else { continue }
                if let result = result(of: download, key, lease: lease.number) {
                    ended[key] = result
                } else {
                    running.insert(key)
                }
            }
            take(rows, of: lease.number, running: running, ended: ended)
        }
        self.listed = nil
        // Stopped at the end of its leases, before the process was killed.
        if !isPausedByFence {
            for download in downloads.values where download.status.state == .paused { try? await download.resume() }
        }
        // Rows that have a result in the database already.
        await forget(downloads.keys.filter { machine.row($0) == nil })
        changed.notify()
    }

    /// Lets files start.
    func submit(_ rows: [FleetRow]) async {
        var requests: [DownloadRequest] = []
        var fresh: [FleetRow] = []
        for row in rows {
            if let download = downloads[row.key] {
                do { try await download.resume() } catch { fail(row, error) }
                continue
            }
            var request = plan.template
            (request.sources, request.destination) = (row.request.sources, row.request.destination)
            (request.checksum, request.uploadTo) = (row.request.checksum, row.request.uploadTo)
            if request.uploadTo != nil, case .file(let name) = request.destination {
                request.destination = .file(Paths.join(plan.staging, name))
            }
            request.userInfo = [Self.mark: "\(row.key.batch) \(row.key.number) \(row.lease)"]
            if budgets.budget(of: row.host) != nil {
                // One start is one request: the fleet retries it.
                (request.maxConnections, request.maxAttempts) = (1, 1)
            }
            requests.append(request)
            fresh.append(row)
        }
        guard !requests.isEmpty else { return }
        do {
            try await prepare(requests)
            register(try await manager.download(requests), fresh)
        } catch {
            // All or none: one by one it shows which.
            for (row, request) in zip(fresh, requests) {
                do {
                    try await prepare([request])
                    register([try await manager.download(request)], [row])
                } catch { fail(row, error) }
            }
        }
    }

    private func register(_ new: [Download], _ rows: [FleetRow]) {
        for (download, row) in zip(new, rows) {
            (downloads[row.key], keys[download.id]) = (download, row.key)
            // Its end may have come before this.
            if download.status.state.isFinal { settle(download) }
        }
    }

    /// Creates the directories of files.
    private func prepare(_ requests: [DownloadRequest]) async throws(DownloadError) {
        for request in requests {
            guard case .file(let path) = request.destination else { continue }
            let directory = Paths.parent(of: path)
            guard !directories.contains(directory) else { continue }
            do throws(UsageError) {
                try await onFileThread { () throws(UsageError) in try PlanningWorld.system.prepareDirectory(directory) }
            } catch { throw DownloadError(.disk, error.reason, recovery: .needsUser) }
            if directories.count > 10_000 { directories = [] }
            directories.insert(directory)
        }
    }

    /// Handles one event of the manager.
    func follow(_ event: DownloadEvent) {
        switch event.kind {
        case .completed, .failed, .cancelled:
            if let key = keys[event.id], let download = downloads[key] { settle(download) }
            event.acknowledge()
        case .added, .started, .resumed, .retrying, .restarted, .waiting, .note, .paused: break
        }
    }

    /// Records the end of a download, or lets it wait for another attempt.
    private func settle(_ download: Download) {
        guard let key = keys[download.id], let row = machine.row(key) else { return }
        let host = startedUnder[key] ?? ""
        let attempts = machine.attempts(of: key)
        if case .failed(let error) = download.status.state {
            // A shutdown is no end.
            if error.code == .shutDown { return }
            if error.code == .diskFull {
                // Not a property of the row: the whole list would fail.
                let directory = Paths.parent(of: download.status.path ?? "")
                report.message("\(directory): the disk is full; files wait for space")
                free(key)
                machine.retry(key, at: now + .seconds(60))
                return changed.notify()
            }
            if !host.isEmpty, case .transient(let retryAfter) = error.recovery, attempts < Self.mostAttempts {
                if let retryAfter { holds[host] = max(holds[host] ?? .zero, retryAfter) }
                free(key)
                machine.retry(key, at: now + max(retryAfter ?? .zero, .seconds(1 << attempts)))
                return changed.notify()
            }
        }
        guard let result = result(of: download, key, lease: row.lease), machine.end(key, result) else { return }
        free(key)
        times.countEnd()
        switch download.status.state {
        case .failed(let error): count(error, row.request.sources.first?.redacted ?? "")
        case .cancelled: counts.failed += 1
        default: counts.completed += 1
        }
        changed.notify()
    }

    /// Gives back what a running row has of its host's budget.
    func free(_ key: RowKey) {
        if let host = startedUnder.removeValue(forKey: key) { gate.ended(host) }
    }

    /// The result of a listed download; `nil` if it has not ended.
    private func result(of download: Download, _ key: RowKey, lease: Int64) -> FleetResult? {
        let snapshot = download.snapshot
        let subject = ResultSubject(
            request: snapshot.request,
            place: ListPlace(list: 0, line: Int(key.number), offset: 0, number: Int(key.number)))
        let attempts = max(1, machine.attempts(of: key))
        let line: ResultLine
        switch snapshot.status.state {
        case .completed:
            guard let file = snapshot.finished else { return nil }
            line = .completed(file, subject, attempts: attempts, clock.date(at: now))
        case .failed(let error):
            line = .failed(error, subject, attempts: attempts, clock.date(at: now))
        case .cancelled:
            let error = DownloadError(.cancelled, ErrorPhrase(.itWasCancelled))
            line = .failed(error, subject, attempts: attempts, clock.date(at: now))
        case .waiting, .downloading, .verifying, .paused: return nil
        }
        return FleetResult(key: key, lease: lease, line: line.text)
    }

    /// The result of a row that is no request.
    func unusable(_ row: FleetRow) -> FleetResult {
        failure(row, DownloadError(.invalidRequest, row.problem ?? "it has no usable URL", recovery: .needsUser))
    }

    private func failure(_ row: FleetRow, _ error: DownloadError) -> FleetResult {
        let number = Int(row.key.number)
        let subject = ResultSubject(
            request: row.request, place: ListPlace(list: 0, line: number, offset: 0, number: number))
        count(error, row.request.sources.first?.redacted ?? "row \(number)")
        return FleetResult(
            key: row.key, lease: row.lease,
            line: ResultLine.failed(error, subject, attempts: nil, clock.date(at: now)).text)
    }

    /// Ends a row whose download could not be added.
    private func fail(_ row: FleetRow, _ error: DownloadError) {
        if error.code == .shutDown { return }
        if machine.end(row.key, failure(row, error)) { free(row.key) }
        changed.notify()
    }

    private func count(_ error: DownloadError, _ name: String) {
        counts.failed += 1
        counts.codes.insert(ExitCode.of(error))
        if plan.isVerbose { report.console.message("ferry: " + ErrorText.line(error, name: name)) }
    }

    // MARK: Leaving the list

    /// Takes rows out of the list: those that are reported, and those that another worker has.
    func forget(_ rows: [RowKey]) async {
        let gone = rows.compactMap { key -> Download? in
            guard let download = downloads.removeValue(forKey: key) else { return nil }
            keys[download.id] = nil
            return download
        }
        _ = await gone.concurrently { await Self.leave($0) }
    }

    /// Removes a download from the list. A part file stays, for another attempt or another worker.
    private static func leave(_ download: Download) async {
        switch download.status.state {
        case .completed, .cancelled: try? await download.remove()
        case .failed, .paused, .waiting, .downloading, .verifying:
            if (try? await download.cancelByProducingResumeData()) == nil { try? await download.remove() }
        }
    }

    /// Stops the rows that others have.
    func stopLost() async {
        while !lost.isEmpty {
            let rows = lost
            lost = []
            await forget(rows)
        }
    }

    /// Stops everything when the leases may have ended, and goes on with what is still held when they have not.
    func fence() async {
        let isFenced = machine.isFenced(at: now)
        if isFenced, !isPausedByFence, !downloads.isEmpty {
            isPausedByFence = true
            report.message("the database has been away for as long as the leases last: everything waits")
            try? await manager.pauseAll()
        } else if !isFenced, isPausedByFence {
            isPausedByFence = false
            for (key, download) in downloads where download.status.state == .paused {
                // Another worker may have it by now.
                if machine.row(key) != nil { try? await download.resume() }
            }
        }
    }
}
