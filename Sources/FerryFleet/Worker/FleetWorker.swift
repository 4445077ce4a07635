import Ferry
import FerryCore
import FerryTerminal

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// `ferry work`: downloads the rows of leases with a ``DownloadManager``, whose list is in the worker's state directory.
///
///     database ─► LeaseMachine ─► StartGate ─► manager ─► events ─► LeaseMachine ─► results ─► database
///
/// Invariants:
/// - The manager's list holds a row from its start until the database has its result, so the next
///   process of a killed worker knows which files were running and which results were not reported.
/// - Files start and end without the database; only leases, results and budgets wait for it.
/// - No transaction is open while anything is downloaded: each call is one statement.
/// - Nothing runs after the deadline of the leases, which is counted from the moment at which the heartbeat was sent.
/// - Heartbeats are sent one after another by one task over a connection of their own, so that they wait for no other
///   statement, and their answers come in order.
actor FleetWorker {
    private let plan: WorkerPlan
    private let store: FleetStore
    /// The connection of heartbeats.
    private let pulse: FleetStore
    private let manager: DownloadManager
    private let report: WorkerReport
    private let start = ContinuousClock.now
    /// This worker's key and number in the database; 0 before it has joined.
    private var key = ""
    private var worker: Int64 = 0
    private var machine = LeaseMachine()
    private var gate = StartGate()
    private var budgets = BudgetTable()
    private var clock = DatabaseClock()
    /// The listed downloads of rows.
    private var downloads: [RowKey: Download] = [:]
    private var keys: [DownloadID: RowKey] = [:]
    /// The rows in the list of an earlier process, by lease, until the rows of the leases are read.
    private var listed: [Int64: [RowKey]]?
    /// Delays that servers have requested, by the key under which their hosts' starts are counted.
    private var holds: [String: Duration] = [:]
    /// Servers that are down or have requested a pause, and when the next attempt at each is due.
    private var absent: [Origin: Duration] = [:]
    /// Rows whose downloads wait for a server, and for how long.
    private var held: [RowKey: Duration] = [:]
    private var times = WorkerTimes()
    private var counts = WorkerCounts()
    private var directories: Set<String> = []
    /// The keys under which the starts of running rows were counted.
    private var startedUnder: [RowKey: String] = [:]
    /// Rows that other workers hold now, and that are still to be stopped.
    private var lost: [RowKey] = []
    /// Hosts whose connections are still to be released.
    private var unreleased: Set<String> = []
    private var isPausedByFence = false
    private var isStopping = false
    private var isOver = false
    /// Notified when there is something to start, or to send to the database.
    private let changed: AsyncEvent
    /// Notified when a heartbeat is wanted before its time.
    private let beatWanted: AsyncEvent

    /// - Parameters:
    ///   - changed: Also notified when the database sends a notification.
    ///   - beatWanted: Also notified when the database sends a notification.
    init(
        _ plan: WorkerPlan, store: FleetStore, pulse: FleetStore, manager: DownloadManager, report: WorkerReport,
        changed: AsyncEvent, beatWanted: AsyncEvent
    ) {
        (self.plan, self.store, self.pulse) = (plan, store, pulse)
        (self.manager, self.report, self.changed, self.beatWanted) = (manager, report, changed, beatWanted)
    }

    /// The text of the final message, with the numbers of complete and failed files.
    var summary: Reason { "\(counts.completed) complete, \(counts.failed) failed" }

    private var now: Duration { ContinuousClock.now - start }

    /// Runs until a signal arrives or, with `--until-done`, until no row is left.
    func run(
        key: String, signals: AsyncStream<Int32>, willLeave: @escaping @Sendable (ExitCode) -> Void
    ) async throws -> ExitCode {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await signal in signals where signal != SignalWatch.continuing && signal != SignalWatch.suspending {
                    await self.stop(SignalWatch.exitCode(signal), willLeave)
                }
            }
            group.addTask {
                // Subscribes before the list is opened, so that the end of no download is missed.
                let events = self.manager.events
                try await self.begin(key: key)
                await withTaskGroup(of: Void.self) { work in
                    work.addTask { for await event in events { await self.follow(event) } }
                    work.addTask { await self.startLoop() }
                    work.addTask { await self.heartLoop() }
                    work.addTask { await self.databaseLoop() }
                    for await _ in work { if await self.isEnding { break } }
                    await self.manager.shutdown()
                }
            }
            _ = try await group.next()
            // The task for signals normally ends last. It ends first if the worker was stopped before it had begun.
            while !isEnding { if try await group.next() == nil { break } }
            group.cancelAll()
        }
        return plan.allowsFailures ? counts.exitCode.allowingFailures : counts.exitCode
    }

    private var isEnding: Bool { isOver || isStopping }

    private func stop(_ code: ExitCode, _ willLeave: (ExitCode) -> Void) async {
        guard !isStopping else { return }
        isStopping = true
        counts.interruption = code
        willLeave(code)
        report.message("stopping; the same command resumes this worker's rows")
        changed.notify()
        beatWanted.notify()
        await manager.shutdown()
        _ = try? await deliver()
        // Its leases are known since the first heartbeat. A worker that holds none is not expected back.
        if machine.deadline > .zero, machine.isEmpty, times.claimedAt == nil { try? await store.leave(worker) }
    }

    /// Ends the run.
    private func end() {
        isOver = true
        changed.notify()
        beatWanted.notify()
    }

    /// Waits until the event is notified, but not longer than the given time.
    private func wait(for event: AsyncEvent, after seen: UInt64, atMost time: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await event.wait(after: seen) }
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Whether the database is unreachable, or a heartbeat is late. Servers may be unreachable for the same reason.
    private var lacksDatabase: Bool { times.isAway || now > times.beatAt + Self.lateness }

    private static let lateness: Duration = .seconds(3)

    // MARK: Loops

    /// Starts rows whenever slots, budgets and leases permit, and stops rows that other workers hold.
    private func startLoop() async {
        while !isEnding, !Task.isCancelled {
            let seen = changed.count
            let table = budgets
            let wake = machine.wake(at: now) { table.key(of: $0) }
            await stopLost()
            await fence()
            await pauseHeld()
            await startRows()
            let isFull = machine.runningCount >= plan.parallel
            let next = [wake, isFull ? nil : gate.nextStart(machine.waiting)].compactMap(\.self).min()
            // At most one second, or less if the next start is due earlier.
            let pause = min(.seconds(1), max(.milliseconds(5), (next ?? .seconds(3600)) - now))
            await wait(for: changed, after: seen, atMost: pause)
        }
    }

    private func startRows() async {
        let (time, most) = (now, max(0, plan.parallel - machine.runningCount))
        var gate = gate
        absent = absent.filter { $0.value > time }
        let rows = machine.start(most: most, at: time, absent: absent) { gate.mayStart($0, at: time) }
        self.gate = gate
        for row in rows { startedUnder[row.key] = budgets.key(of: row.host) }
        if !rows.isEmpty { await submit(rows) }
    }

    /// Sends heartbeats.
    private func heartLoop() async {
        while !isEnding, !Task.isCancelled {
            let seen = beatWanted.count
            let isSent = await attempt { () async throws(DatabaseError) in try await beat() }
            if isEnding { return }
            let pause = isSent ? times.beatAt - now : Self.pauseWhileAway
            await wait(for: beatWanted, after: seen, atMost: max(.zero, pause))
        }
    }

    /// Sends results to the database, and requests leases and budgets.
    private func databaseLoop() async {
        while !isEnding, !Task.isCancelled {
            let seen = changed.count
            var pause = Self.pauseWhileAway
            _ = await attempt { () async throws(DatabaseError) in pause = try await turn() }
            if isEnding { return }
            // Waits even if events arrive, so that one statement reports the results of several files.
            if pause <= .milliseconds(500) {
                try? await Task.sleep(for: pause)
            } else {
                await wait(for: changed, after: seen, atMost: pause)
            }
        }
    }

    private static let pauseWhileAway: Duration = .seconds(1)

    /// Runs statements. Returns false while the database is unreachable, and ends the run if the statements can never succeed.
    private func attempt(_ statements: () async throws(DatabaseError) -> Void) async -> Bool {
        do throws(DatabaseError) {
            try await statements()
            if times.isAway { report.message("the database is back") }
            times.isAway = false
            return true
        } catch {
            guard error.isTransient else {
                report.failed(error)
                counts.codes.insert(.internal)
                end()
                return false
            }
            if !times.isAway { report.message("\(error.reason); downloads go on") }
            times.isAway = true
            return false
        }
    }
}

/// The worker's exchange with the database.
extension FleetWorker {
    /// The number of results in one statement.
    private static let mostResults = 500

    /// Joins the fleet, and continues with the rows that an earlier process of this worker has left.
    private func begin(key: String) async throws {
        self.key = key
        while true {
            do throws(DatabaseError) {
                try await store.checkSchema()
                worker = try await store.join(key: key, name: plan.name)
                budgets = try await store.budgets()
                try await beat()
                break
            } catch {
                if !error.isTransient || error.isDenied { throw error }
                if !times.isAway { report.message("\(error.reason); trying again") }
                times.isAway = true
                try await Task.sleep(for: .seconds(1))
                if isEnding { return }
            }
        }
        times.isAway = false
        try await manager.activate()
        try await findListed()
    }

    /// Runs one iteration of the database loop. Returns the pause until the next one.
    private func turn() async throws(DatabaseError) -> Duration {
        times.measure(at: now)
        if let listed { try await adopt(listed) }
        try await deliver()
        for (host, delay) in holds {
            try await store.hold(host, for: delay)
            if holds[host] == delay { holds[host] = nil }
        }
        try await release()
        if now >= times.budgetsAt {
            times.budgetsAt = now + .seconds(30)
            let table = try await store.budgets()
            if table != budgets {
                budgets = table
                machine.requeue { table.key(of: $0) }
            }
        }
        try await reserve()
        for lease in machine.finishable {
            let isEnded = try await store.finish(worker, lease)
            if machine.finished(lease, isEnded: isEnded) {
                report.message("rows of lease \(lease) are missing in the database")
            }
        }
        let hasLeases = try await takeLeases()
        if machine.isEmpty, !hasLeases {
            if plan.endsWhenDone, try await store.isDone() {
                try await store.leave(worker)
                end()
                return .zero
            }
        }
        if now >= times.tidyAt {
            times.tidyAt = now + .seconds(60)
            try await store.tidy()
        }
        // While there is no work, a notification ends the pause.
        return machine.isEmpty ? .seconds(1) : .milliseconds(200)
    }

    /// Sends a heartbeat, and records the leases in its answer.
    private func beat() async throws(DatabaseError) {
        let sent = now
        let answer: (leases: [FleetLease], seconds: Double)
        do throws(DatabaseError) { answer = try await pulse.beat(worker, lasting: plan.lease) } catch {
            guard error.state == FleetStore.noSuchWorker else { throw error }
            // This worker has left.
            if isEnding { return }
            // After a long silence, the database has deleted this worker, which therefore holds no leases.
            worker = try await pulse.join(key: key, name: plan.name)
            answer = try await pulse.beat(worker, lasting: plan.lease)
        }
        if lacksDatabase {
            manager.forgetFailures()
            absent = [:]
        }
        clock.set(answer.seconds, at: now)
        times.beatAt = sent + plan.beatInterval
        if let claimed = times.claimedAt, claimed <= sent { times.claimedAt = nil }
        let gone = machine.beat(answer.leases, deadline: sent + plan.lease - plan.margin).lost
        for key in gone { free(key) }
        lost += gone
        // A lease may be lost before its rows in the list of an earlier process are read.
        for (lease, keys) in listed ?? [:] where !machine.holds(lease) {
            listed?[lease] = nil
            lost += keys
        }
        changed.notify()
    }

    /// Releases connections to hosts without running or waiting rows.
    private func release() async throws(DatabaseError) {
        guard now >= times.releaseAt else { return }
        times.releaseAt = now + .seconds(5)
        unreleased.formUnion(gate.idle(except: machine.waiting))
        guard !unreleased.isEmpty else { return }
        let hosts = unreleased
        try await store.release(worker, Array(hosts))
        unreleased.subtract(hosts)
    }

    /// Takes a lease if too few rows are waiting, and reads the rows of unread leases. The next heartbeat confirms a new lease.
    /// Returns whether a lease is not confirmed yet.
    private func takeLeases() async throws(DatabaseError) -> Bool {
        let ahead = Double(plan.ahead.components.seconds) * times.rowsPerSecond
        let rows = max(plan.parallel, Int(min(ahead, 1e6)))
        if now >= times.claimAt, !isStopping, times.claimedAt == nil, machine.wantsLease(rows: rows) {
            if try await store.claim(worker) {
                times.claimedAt = now
                beatWanted.notify()
            } else {
                times.claimAt = now + .seconds(2)
            }
        }
        for lease in machine.unread {
            let found = try await store.rows(of: lease, within: plan.bounds)
            take(found, of: lease.number)
            changed.notify()
        }
        return times.claimedAt != nil
    }

    /// Adds rows of a lease. Rows without a usable request are added as failed.
    private func take(_ rows: [FleetRow], of lease: Int64, ended: [RowKey: FleetResult] = [:]) {
        var ended = ended
        for row in rows where row.problem != nil { ended[row.key] = unusable(row) }
        let table = budgets
        machine.add(rows, of: lease, ended: ended) { table.key(of: $0) }
    }

    private func reserve() async throws(DatabaseError) {
        let free = max(0, plan.parallel - machine.runningCount)
        let table = budgets
        let wishes = gate.wishes(machine.waiting, free: free, at: now) {
            table.budget(of: $0) ?? BudgetTable.standard
        }
        guard !wishes.isEmpty else { return }
        // The delays are relative to the time of the answer, which is not later than `now`, so no start is too early.
        let grants = try await store.reserve(worker, wishes)
        gate.granted(grants, at: now)
        // These hosts are in use again, so a pending release of their connections is dropped.
        unreleased.subtract(grants.map(\.host))
        changed.notify()
    }

    /// Appends results, and then removes their files from the list. Returns the number of results.
    @discardableResult
    private func deliver() async throws(DatabaseError) -> Int {
        var count = 0
        while true {
            let results = machine.results(most: Self.mostResults)
            if results.isEmpty { return count }
            _ = try await store.append(results)
            machine.delivered(results)
            count += results.count
            await forget(results.map(\.key))
        }
    }
}

/// The files: their downloads in the manager's list, and how they end.
extension FleetWorker {
    /// The member of a download's user info that names its row and lease.
    private static let mark = "fleet"
    /// The maximum number of attempts at a file that is in use elsewhere.
    private static let mostConflicts = 5

    /// Finds the rows that an earlier process has left in the list; none of them is running yet. Downloads whose rows now belong
    /// to another worker are removed from the list; their part files stay.
    private func findListed() async throws(DownloadError) {
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

    /// Adds the rows that were found in the list. Results of ended rows are reported. The other rows wait, and count
    /// as starts of their host's budget when they resume.
    private func adopt(_ listed: [Int64: [RowKey]]) async throws(DatabaseError) {
        for lease in machine.unread {
            var ended: [RowKey: FleetResult] = [:]
            let rows = try await store.rows(of: lease, within: plan.bounds)
            for row in rows {
                guard let download = downloads[row.key] else { continue }
                if setback(of: download, row) != nil { continue }
                ended[row.key] = result(of: download, row)
            }
            take(rows, of: lease.number, ended: ended)
        }
        self.listed = nil
        // Rows that have a result in the database already.
        await forget(downloads.keys.filter { machine.row($0) == nil })
        changed.notify()
    }

    /// Starts the downloads of rows.
    private func submit(_ rows: [FleetRow]) async {
        var requests: [DownloadRequest] = []
        var fresh: [FleetRow] = []
        for row in rows {
            let sources = budgets.sources(of: row)
            if let download = downloads[row.key], Self.isOfOtherFile(download) { await beginAnew(download, row.key) }
            if let download = downloads[row.key] {
                do throws(DownloadError) {
                    if download.request.sources != sources { try await download.change { $0.sources = sources } }
                    try await download.requeue()
                } catch { fail(row, error) }
                continue
            }
            var request = plan.request(of: row, from: sources)
            request.userInfo = [Self.mark: "\(row.key.batch) \(row.key.number) \(row.lease)"]
            if budgets.budget(of: row.host) != nil {
                // One start is one request.
                (request.maxConnections, request.maxRetries) = (1, 0)
            }
            requests.append(request)
            fresh.append(row)
        }
        (requests, fresh) = await prepared(requests, fresh)
        guard !requests.isEmpty else { return }
        do { register(try await manager.download(requests), fresh) } catch {
            // The requests were refused together, so each is submitted alone to find the invalid ones.
            for (row, request) in zip(fresh, requests) {
                do { register([try await manager.download(request)], [row]) } catch { fail(row, error) }
            }
        }
    }

    /// Whether a download has failed because its part file is not of the row's file: a removed batch of the same name, or a mirror
    /// with other content, has left it.
    private static func isOfOtherFile(_ download: Download) -> Bool {
        guard case .failed(let error) = download.status.state else { return false }
        return error.phrase?.key == .otherFile
    }

    /// Removes a download with its part file, so that the row's next one begins anew.
    private func beginAnew(_ download: Download, _ key: RowKey) async {
        (downloads[key], keys[download.id]) = (nil, nil)
        try? await download.cancel()
        try? await download.remove()
    }

    private func register(_ new: [Download], _ rows: [FleetRow]) {
        for (download, row) in zip(new, rows) {
            (downloads[row.key], keys[download.id]) = (download, row.key)
            // The download may have ended already.
            if download.status.state.isFinal { settle(download) }
        }
    }

    /// Creates the directories of files, and returns the requests whose directories exist. An unusable directory, for example
    /// because of a missing mount, is not the fault of a row, so its rows wait.
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

    /// The time between two attempts while a disk or a directory cannot be written to.
    private static let patience: Duration = .seconds(60)

    /// The time between two attempts while the file is in use elsewhere.
    private static let timeToLetGo: Duration = .seconds(15)

    /// The shortest and the longest time between two attempts, unless a server requests a longer one.
    private static let shortestPause: Duration = .seconds(1)
    private static let longestPause: Duration = .seconds(60)

    /// The time between two attempts while neither servers nor the database can be reached.
    private static let timeToReconnect: Duration = .seconds(5)

    /// Downloads that wait longer than this in the list give up their slots.
    private static let shortWait: Duration = .seconds(2)

    /// Lets a running row wait for another attempt.
    ///
    /// - Parameter message: `nil` for no message.
    private func wait(_ key: RowKey, _ setback: LeaseMachine.Setback, _ delay: Duration, _ message: Reason? = nil) {
        if let message { complain(message) }
        free(key)
        machine.retry(key, after: setback, at: now + delay)
        changed.notify()
    }

    /// Reports a message that may concern every row; at most one in ``patience``.
    private func complain(_ message: Reason) {
        guard now >= times.complainAt else { return }
        times.complainAt = now + Self.patience
        report.message(message)
    }

    /// Handles one event of the manager.
    private func follow(_ event: DownloadEvent) {
        switch event.kind {
        case .completed, .failed, .cancelled:
            if let key = keys[event.id], let download = downloads[key] { settle(download) }
            event.acknowledge()
        case .waiting(.server(_, let until?), _):
            // The only attempt of the download continues after a delay that the server of a redirect has requested.
            let delay = Duration.seconds(max(0, until.timeIntervalSince(event.date)))
            guard delay > Self.shortWait, let key = keys[event.id] else { return }
            guard downloads[key]?.request.maxRetries == 0 else { return }
            held[key] = delay
            changed.notify()
        case .added, .started, .resumed, .retrying, .restarted, .waiting, .note, .paused: break
        }
    }

    /// Records the end of a download, or lets it wait for another attempt.
    private func settle(_ download: Download) {
        guard let key = keys[download.id], let row = machine.row(key) else { return }
        let host = startedUnder[key] ?? ""
        if case .failed(let error) = download.status.state {
            // A shutdown does not end the row.
            if error.code == .shutDown { return }
            if let (setback, delay) = setback(of: download, row) {
                if case .failed = setback, case .transient(let retryAfter?) = error.recovery, !host.isEmpty {
                    holds[host] = max(holds[host] ?? .zero, retryAfter)
                    gate.hold(host)
                }
                if error.phrase?.key == .hostIsAbsent, let server = row.server { absent[server] = now + delay }
                return wait(key, setback, delay, Self.complaint(error, download))
            }
        }
        guard let result = result(of: download, row), machine.end(key, result) else { return }
        free(key)
        times.countEnd()
        switch download.status.state {
        case .failed(let error): count(error, row.request.sources.first?.redacted ?? "")
        case .cancelled: counts.failed += 1
        default: counts.completed += 1
        }
        changed.notify()
    }

    /// Returns why and for how long a row waits after its download has failed; `nil` if the row has ended.
    private func setback(of download: Download, _ row: FleetRow) -> (LeaseMachine.Setback, Duration)? {
        guard case .failed(let error) = download.status.state else { return nil }
        // A full disk or an unreachable store concerns every row; otherwise the whole list would fail.
        if error.code == .diskFull || Self.lacksStore(error, download) { return (.postponed, Self.patience) }
        let bytes = download.status.progress.completedBytes
        let failures = machine.failures(of: row.key, bytes: bytes)
        if error.code == .conflict, download.request.uploadTo == nil {
            guard failures < Self.mostConflicts else { return nil }
            // Another worker that has lost the lease may keep the file open until its next heartbeat.
            return (.failed(bytes: bytes), Self.isOfOtherFile(download) ? Self.shortestPause : Self.timeToLetGo)
        }
        let count = row.request.sources.count
        guard case .transient(let retryAfter) = error.recovery else {
            // The download did not have the mirrors that are subject to other budgets.
            let hasOthers = download.request.sources.count < count && failures < count
            return hasOthers ? (.failed(bytes: bytes), Self.shortestPause) : nil
        }
        // The network of this machine is probably at fault, not the row or its server.
        if error.code == .network, lacksDatabase { return (.postponed, Self.timeToReconnect) }
        switch error.phrase?.key {
        case .hostGivenUp where count == 1: return nil
        case .hostIsAbsent: return (.absent, max(retryAfter ?? .zero, .milliseconds(200)))
        default:
            // Downloads with attempts of their own have already made them.
            guard failures <= plan.retries, download.request.maxRetries == 0 else { return nil }
            let pause = min(Self.shortestPause * (1 << min(failures - 1, 10)), Self.longestPause)
            return (.failed(bytes: bytes), max(retryAfter ?? .zero, pause))
        }
    }

    /// Whether all bytes of a failed download are present, and the store of its object cannot be reached or is out of order.
    private static func lacksStore(_ error: DownloadError, _ download: Download) -> Bool {
        guard download.request.uploadTo != nil, error.code == .network, case .transient = error.recovery else {
            return false
        }
        let progress = download.status.progress
        return progress.completedBytes == progress.totalBytes
    }

    /// The message about an error that concerns every row; `nil` if it concerns only this one.
    private static func complaint(_ error: DownloadError, _ download: Download) -> Reason? {
        if lacksStore(error, download) { return "\(error.reason); files wait" }
        guard error.code == .diskFull, case .file(let path) = download.request.destination else { return nil }
        return "\(Paths.parent(of: path)): the disk is full; files wait for space"
    }

    /// Returns the number of attempts at a row whose download has ended; `nil` if nothing was requested.
    private func attempts(of key: RowKey, _ download: Download) -> Int? {
        let attempts = max(1, machine.attempts(of: key))
        guard case .failed(let error) = download.status.state else { return attempts }
        switch error.phrase?.key {
        // The last start sent no request, because the server had been given up.
        case .hostGivenUp: return attempts > 1 ? attempts - 1 : nil
        case .gaveUp: return error.phrase?.arguments.first.flatMap { Int($0.description) } ?? attempts
        default: return attempts
        }
    }

    /// Returns the error of the last attempt as the error of all attempts.
    private static func summed(_ error: DownloadError, attempts: Int?) -> DownloadError {
        guard let attempts, attempts > 1, error.phrase?.key == .gaveUpOnce, let reason = error.phrase?.arguments.first
        else { return error }
        return DownloadError(
            error.code, ErrorPhrase(.gaveUp, "\(attempts)", reason), suggestion: error.suggestionPhrase,
            underlying: error.underlying, recovery: error.recovery)
    }

    /// Releases a running row's share of its host's budget.
    private func free(_ key: RowKey) {
        if let host = startedUnder.removeValue(forKey: key) { gate.ended(host) }
    }

    /// The result of a listed download; `nil` if it has not ended.
    private func result(of download: Download, _ row: FleetRow) -> FleetResult? {
        let snapshot = download.snapshot
        let number = Int(row.key.number)
        var request = snapshot.request
        request.sources = row.request.sources
        let subject = ResultSubject(
            request: request, place: ListPlace(list: 0, line: number, offset: 0, number: number))
        let attempts = attempts(of: row.key, download)
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
        return FleetResult(key: row.key, lease: row.lease, line: line.text)
    }

    /// The result of a row that is not a valid request.
    private func unusable(_ row: FleetRow) -> FleetResult {
        let problem = row.problem ?? "it has no usable URL"
        // With -v, each failure is reported.
        if !plan.isVerbose { complain(problem) }
        return failure(row, DownloadError(.invalidRequest, problem, recovery: .needsUser))
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
        guard plan.isVerbose else { return }
        report.console.message("ferry: " + ErrorText.line(WorkerAdvice.advised(error), name: name))
    }

    // MARK: Leaving the list

    /// Removes the downloads of rows that are reported, or that another worker holds.
    private func forget(_ rows: [RowKey]) async {
        let gone = rows.compactMap { key -> Download? in
            guard let download = downloads.removeValue(forKey: key) else { return nil }
            keys[download.id] = nil
            return download
        }
        _ = await gone.concurrently { await Self.leave($0) }
    }

    /// Removes a download from the list. A part file stays for another attempt or another worker, except the part file of an
    /// upload, which is in this worker's own directory.
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

    /// Stops the rows that other workers hold.
    private func stopLost() async {
        while !lost.isEmpty {
            let rows = lost
            lost = []
            await forget(rows)
        }
    }

    /// Moves rows whose downloads wait for a server back to the worker's queue, so that they take no slots.
    private func pauseHeld() async {
        for (key, delay) in held {
            held[key] = nil
            guard machine.isRunning(key), let download = downloads[key] else { continue }
            try? await download.pause()
            if download.status.state == .paused { wait(key, .postponed, delay) }
        }
    }

    /// Stops everything when the leases may have expired, and resumes the rows that are still held once the leases are confirmed.
    private func fence() async {
        let isFenced = machine.isFenced(at: now)
        if isFenced, !isPausedByFence, !downloads.isEmpty {
            isPausedByFence = true
            report.message("the database was unreachable until the leases ended: everything waits")
            try? await manager.pauseAll()
        } else if !isFenced, isPausedByFence {
            isPausedByFence = false
            // Meanwhile, other workers may have been granted the starts and connections of these hosts.
            for (key, download) in downloads where download.status.state == .paused { wait(key, .postponed, .zero) }
        }
    }
}

/// Metrics.
extension FleetWorker {
    /// Returns the state and counts of this worker.
    ///
    /// - Parameter meter: The meter of its connections.
    func reading(_ meter: FleetMeter) -> WorkerReading {
        let now = now
        return WorkerReading(
            hasJoined: machine.deadline > .zero, leases: machine.leaseCount, waiting: machine.unstartedCount,
            running: machine.runningCount, undelivered: machine.undeliveredCount, completed: counts.completed,
            failed: counts.failed, age: now, untilDeadline: machine.deadline - now,
            silence: meter.silence(at: .now), isAway: times.isAway)
    }
}
