import Ferry
import FerryCore
import FerryTerminal

/// The files: their downloads in the manager's list, and how they end.
extension FleetWorker {
    /// The member of a download's user info that names its row and lease.
    private static let mark = "fleet"
    /// The attempts at a file that something else holds.
    private static let mostConflicts = 5

    /// Finds the rows in the list of an earlier process, none of which runs yet. What belongs to another worker now leaves
    /// the list, its part file stays.
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

    /// Enters what was found in the list: what has ended is reported; what has not waits, and goes on as a start of its
    /// host's budget.
    func adopt(_ listed: [Int64: [RowKey]]) async throws(DatabaseError) {
        for lease in machine.unread {
            var ended: [RowKey: FleetResult] = [:]
            let rows = try await store.rows(of: lease, within: plan.bounds)
            for row in rows {
                guard let download = downloads[row.key] else { continue }
                if setback(of: download, row.key) != nil { continue }
                ended[row.key] = result(of: download, row.key, lease: lease.number)
            }
            take(rows, of: lease.number, ended: ended)
        }
        self.listed = nil
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
            var request = plan.request(of: row, from: budgets.sources(of: row))
            request.userInfo = [Self.mark: "\(row.key.batch) \(row.key.number) \(row.lease)"]
            if budgets.budget(of: row.host) != nil {
                // One start is one request.
                (request.maxConnections, request.maxAttempts) = (1, 0)
            }
            requests.append(request)
            fresh.append(row)
        }
        (requests, fresh) = await prepared(requests, fresh)
        guard !requests.isEmpty else { return }
        do { register(try await manager.download(requests), fresh) } catch {
            // All or none: one by one it shows which.
            for (row, request) in zip(fresh, requests) {
                do { register([try await manager.download(request)], [row]) } catch { fail(row, error) }
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

    /// Creates the directories of files, and returns the requests whose directories are there. A directory that cannot be
    /// used, as that of a mount that is gone, is no property of a row: the others wait.
    private func prepared(
        _ requests: [DownloadRequest], _ rows: [FleetRow]
    ) async -> ([DownloadRequest], [FleetRow]) {
        var found: ([DownloadRequest], [FleetRow]) = ([], [])
        for (request, row) in zip(requests, rows) {
            do throws(DownloadError) { try await prepareDirectory(of: request) } catch {
                wait(row.key, .postponed, Self.patience, "\(error.reason); files wait")
                continue
            }
            found.0.append(request)
            found.1.append(row)
        }
        return found
    }

    private func prepareDirectory(of request: DownloadRequest) async throws(DownloadError) {
        guard case .file(let path) = request.destination else { return }
        let directory = Paths.parent(of: path)
        guard !directories.contains(directory) else { return }
        try await ConfinedDirectory.prepare(directory, within: request.root)
        if directories.count > 10_000 { directories = [] }
        directories.insert(directory)
    }

    /// The time between two attempts where a disk or a directory takes nothing.
    private static let patience: Duration = .seconds(60)

    /// The time between two attempts where something else holds the file.
    private static let timeToLetGo: Duration = .seconds(15)

    /// The longest time between two attempts, unless a server asks for more.
    private static let longestPause: Duration = .seconds(60)

    /// The time between two attempts while neither servers nor the database can be reached.
    private static let timeToReconnect: Duration = .seconds(5)

    /// Downloads that wait for longer in the list give their slots back.
    private static let shortWait: Duration = .seconds(2)

    /// Lets a running row wait for another attempt.
    ///
    /// - Parameter message: Is reported once in that time; `nil` for nothing.
    private func wait(_ key: RowKey, _ setback: LeaseMachine.Setback, _ delay: Duration, _ message: Reason? = nil) {
        if let message, now >= times.complainAt {
            times.complainAt = now + Self.patience
            report.message(message)
        }
        free(key)
        machine.retry(key, after: setback, at: now + delay)
        changed.notify()
    }

    /// Handles one event of the manager.
    func follow(_ event: DownloadEvent) {
        switch event.kind {
        case .completed, .failed, .cancelled:
            if let key = keys[event.id], let download = downloads[key] { settle(download) }
            event.acknowledge()
        case .retrying(_, let delay, _):
            // Its only attempt goes on: the server of a redirect has asked to wait.
            guard delay > Self.shortWait, let key = keys[event.id] else { return }
            guard downloads[key]?.request.maxAttempts == 0 else { return }
            held[key] = delay
            changed.notify()
        case .added, .started, .resumed, .restarted, .waiting, .note, .paused: break
        }
    }

    /// Records the end of a download, or lets it wait for another attempt.
    private func settle(_ download: Download) {
        guard let key = keys[download.id], let row = machine.row(key) else { return }
        let host = startedUnder[key] ?? ""
        if case .failed(let error) = download.status.state {
            // A shutdown is no end.
            if error.code == .shutDown { return }
            if let (setback, delay) = setback(of: download, key) {
                if setback != .postponed, case .transient(let retryAfter?) = error.recovery, !host.isEmpty {
                    holds[host] = max(holds[host] ?? .zero, retryAfter)
                    gate.hold(host)
                }
                if error.phrase?.key == .hostIsAbsent, let server = row.server { absent[server] = now + delay }
                let directory = Paths.parent(of: download.status.path ?? "")
                let message: Reason = "\(directory): the disk is full; files wait for space"
                return wait(key, setback, delay, error.code == .diskFull ? message : nil)
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

    /// Returns why a row waits whose download has failed, and for how long; `nil` if it has ended.
    private func setback(of download: Download, _ key: RowKey) -> (LeaseMachine.Setback, Duration)? {
        guard case .failed(let error) = download.status.state else { return nil }
        // Not a property of the row: the whole list would fail.
        if error.code == .diskFull { return (.postponed, Self.patience) }
        let bytes = download.status.progress.completedBytes
        let failures = machine.failures(of: key, bytes: bytes)
        // A worker that has lost its lease holds the file until its next heartbeat.
        if error.code == .conflict, download.request.uploadTo == nil {
            return failures < Self.mostConflicts ? (.failed(bytes: bytes), Self.timeToLetGo) : nil
        }
        guard case .transient(let retryAfter) = error.recovery else { return nil }
        // The network of this machine is at fault, as far as it can tell, and no row or server is.
        if error.code == .network, lacksDatabase { return (.postponed, Self.timeToReconnect) }
        switch error.phrase?.key {
        case .hostGivenUp: return nil
        case .hostIsAbsent: return (.postponed, max(retryAfter ?? .zero, .milliseconds(200)))
        default:
            // Other downloads have made their attempts.
            guard failures <= plan.retries, download.request.maxAttempts == 0 else { return nil }
            let pause = min(.seconds(1 << min(failures - 1, 10)), Self.longestPause)
            return (.failed(bytes: bytes), max(retryAfter ?? .zero, pause))
        }
    }

    /// The attempts of a row whose download has ended; `nil` if nothing was requested.
    private func attempts(of key: RowKey, _ download: Download) -> Int? {
        let attempts = max(1, machine.attempts(of: key))
        guard case .failed(let error) = download.status.state else { return attempts }
        switch error.phrase?.key {
        // The start that found its server given up requested nothing.
        case .hostGivenUp: return attempts > 1 ? attempts - 1 : nil
        case .gaveUp: return error.phrase?.arguments.first.flatMap { Int($0.description) } ?? attempts
        default: return attempts
        }
    }

    /// The error of the last attempt as one of all attempts.
    private static func summed(_ error: DownloadError, attempts: Int?) -> DownloadError {
        guard let attempts, attempts > 1, error.phrase?.key == .gaveUpOnce, let reason = error.phrase?.arguments.first
        else { return error }
        return DownloadError(
            error.code, ErrorPhrase(.gaveUp, "\(attempts)", reason), suggestion: error.suggestionPhrase,
            underlying: error.underlying, recovery: error.recovery)
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
        let attempts = attempts(of: key, download)
        let line: ResultLine
        switch snapshot.status.state {
        case .completed:
            guard let file = snapshot.finished else { return nil }
            line = .completed(file, subject, attempts: attempts, clock.date(at: now))
        case .failed(let error):
            line = .failed(Self.summed(error, attempts: attempts), subject, attempts: attempts, clock.date(at: now))
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

    /// Removes a download from the list. A part file stays, for another attempt or another worker; not that of an upload,
    /// which is in this worker's own directory.
    private static func leave(_ download: Download) async {
        if download.request.uploadTo != nil {
            try? await download.cancel()
            try? await download.remove()
            return
        }
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

    /// Lets rows wait here whose downloads wait in the list for a server.
    func pauseHeld() async {
        for (key, delay) in held {
            held[key] = nil
            guard machine.isRunning(key), let download = downloads[key] else { continue }
            try? await download.pause()
            if download.status.state == .paused { wait(key, .postponed, delay) }
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
            // Others may have had the starts and connections of their hosts meanwhile.
            for (key, download) in downloads where download.status.state == .paused { wait(key, .postponed, .zero) }
        }
    }
}
