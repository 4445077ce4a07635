/// Leases missing ranges to the system's background session while the app is suspended, and takes them back.
///
///     handOver ─► save ─► tasks begin in one batch ─► began
///     landed ─► splice ─► spliced ─► report, save, discard
///     ended, or no task ─► report, save
///
/// Invariants, under any order of events:
/// - a task is started only for a stored lease, and a landed file is used only for a stored lease;
/// - the leases of one download do not overlap;
/// - every lease ends, and its end is reported at least once, because the lease is removed from the store only after the report;
/// - a lease is not a claim: no event changes the claims of the journal, except the splice of a verified file;
/// - each wake by the system is completed exactly once.
package struct HandoverMachine: Sendable {
    private enum Stage: Hashable, Sendable {
        /// Its task is being started.
        case planned
        case running(task: Int, received: ByteCount)
        /// The session lists no task for it. The task may have ended, and its file may still land.
        case missing(since: Duration)
        /// Its task was cancelled, and the task's end is awaited.
        case returning(task: Int)
        /// Its file has landed and is to be spliced.
        case landed
        /// As `landed`, but the download cannot accept the file now.
        case postponed
    }

    private struct Entry: Sendable {
        let lease: Lease
        var stage: Stage
    }

    private let limits: HandoverLimits
    private var entries: [LeaseNumber: Entry]
    /// Downloads whose tasks are to be cancelled, including downloads whose tasks are not known yet.
    private var resting: Set<DownloadID> = []
    /// Landed files without a lease.
    private let strays: [LeaseNumber]
    /// The number of wakes whose completion handlers are still to be called.
    private var wakes = 0
    /// The last time at which the session reported that all events were delivered.
    private var drainedAt: Duration?
    /// Whether the session has reported for the current batch and wake that all events were delivered.
    private var isDrained = false

    /// Creates a machine from the stored leases and the numbers of the landed files.
    package init(
        _ book: LeaseBook = .empty, landed: [LeaseNumber] = [], limits: HandoverLimits = HandoverLimits(),
        at now: Duration = .zero
    ) {
        self.limits = limits
        entries = Dictionary(
            uniqueKeysWithValues: book.leases.map { ($0.number, Entry(lease: $0, stage: .missing(since: now))) })
        var strays: [LeaseNumber] = []
        for number in landed.sorted() {
            if entries[number] == nil { strays.append(number) } else { entries[number]?.stage = .landed }
        }
        self.strays = strays
    }

    // MARK: Queries

    /// The current leases, in the form in which they are stored.
    package var book: LeaseBook { LeaseBook(entries.values.map(\.lease)) ?? .empty }

    package var leases: [Lease] { book.leases }

    /// The bytes of a download that no other connection should fetch now.
    package func leased(of download: DownloadID) -> RangeSet<ByteCount> {
        RangeSet(entries.values.lazy.filter { $0.lease.download == download }.map(\.lease.reserved))
    }

    /// Whether the system has received bytes of a download, or may still fetch some.
    package func hasLeases(of download: DownloadID) -> Bool {
        entries.values.contains { $0.lease.download == download }
    }

    /// Whether a landed file of a download waits to be spliced.
    package func hasLanded(_ download: DownloadID) -> Bool {
        entries.values.contains { $0.lease.download == download && ($0.stage == .landed || $0.stage == .postponed) }
    }

    /// Whether any lease has no known task.
    package var isMissingTask: Bool {
        entries.values.contains { if case .missing = $0.stage { true } else { false } }
    }

    /// Returns the lease for a file that is landing; `nil` if the file is not wanted.
    package func lease(ofLanding task: SystemTask) -> Lease? {
        guard let entry = entry(of: task) else { return nil }
        switch entry.stage {
        case .planned, .running, .missing, .returning: return entry.lease
        case .landed, .postponed: return nil
        }
    }

    // MARK: Starting

    /// Returns the first actions after the start: landed files are spliced or removed.
    package func began() -> [HandoverAction] {
        strays.map { .discard($0) } + splices(of: [.landed])
    }

    /// Returns the actions for the landed files that the download could not accept earlier.
    package mutating func retried(_ download: DownloadID) -> [HandoverAction] {
        let found = splices(of: [.postponed], download)
        for case .splice(let lease) in found { entries[lease.number]?.stage = .landed }
        return found
    }

    private func splices(of stages: Set<Stage>, _ download: DownloadID? = nil) -> [HandoverAction] {
        sorted.filter { stages.contains($0.stage) && (download ?? $0.lease.download) == $0.lease.download }
            .map { .splice($0.lease) }
    }

    private var sorted: [Entry] { entries.values.sorted { $0.lease.number < $1.lease.number } }

    // MARK: Handing over

    /// The leases of one batch.
    package struct Batch: Sendable, Hashable {
        /// The requests of the tasks, which are started together after the actions.
        package var requests: [LeasedRequest] = []
        /// The reasons why downloads, or the remaining ranges of a download, stay with the app.
        package var refusals: [DownloadID: HandoverRefusal] = [:]
        package var actions: [HandoverAction] = []
    }

    /// Leases the missing ranges of the candidates, in the order of the queue. Called when the app is about to be
    /// suspended and its own connections have ended. Tasks that are started later, in the background, are delayed more
    /// and more by the system.
    ///
    /// - Parameters:
    ///   - candidates: The downloads, each once.
    ///   - space: The number of bytes that may land, in addition to the part files; `nil` for no limit.
    ///   - random: The source of the leases' random numbers.
    package mutating func handOver(
        _ candidates: [HandoverCandidate], space: ByteCount? = nil, using random: inout some RandomNumberGenerator
    ) -> Batch {
        isDrained = false
        resting.subtract(candidates.map(\.download))
        // Landed files already occupy their space.
        var space = space.map { space in
            entries.values.reduce(space) {
                $1.stage == .landed || $1.stage == .postponed ? $0 : $0 - ($1.lease.bytes ?? 0)
            }
        }
        var batch = Batch()
        for candidate in candidates {
            let room = min(limits.maxTasks, LeaseBook.maxLeases) - entries.count
            do throws(HandoverRefusal) {
                let leases = try HandoverPlanner.leases(
                    for: candidate, leased: leased(of: candidate.download), room: room, limits: limits, using: &random)
                var isFull = false
                for lease in leases where entries[lease.number] == nil {
                    if let space, space < lease.bytes ?? 1 {
                        isFull = true
                        break
                    }
                    space = space.map { $0 - (lease.bytes ?? 0) }
                    entries[lease.number] = Entry(lease: lease, stage: .planned)
                    batch.requests.append(LeasedRequest(lease, of: candidate))
                }
                let taken = candidate.claimed.union(leased(of: candidate.download))
                if isFull {
                    batch.refusals[candidate.download] = .noSpace
                } else if candidate.hasRanges == true, let total = candidate.total, !taken.holds(0..<total) {
                    batch.refusals[candidate.download] = .noTaskLeft
                }
            } catch { batch.refusals[candidate.download] = error }
        }
        if !batch.requests.isEmpty { batch.actions = [.save(book)] }
        return batch
    }

    /// Records that the task of a lease has started.
    package mutating func began(_ number: LeaseNumber, task: Int) {
        switch entries[number]?.stage {
        // A list of tasks that was made before the task started does not contain it.
        case .planned, .missing: entries[number]?.stage = .running(task: task, received: 0)
        // The first events of the task arrived before this one.
        case .running, .returning, .landed, .postponed, nil: break
        }
    }

    /// Removes leases that could not be stored; none of their tasks has been started.
    package mutating func notBegun(_ numbers: [LeaseNumber]) {
        for number in numbers where entries[number]?.stage == .planned { entries[number] = nil }
    }

    // MARK: Events of the session

    package mutating func wrote(_ task: SystemTask) {
        guard let entry = entry(of: task) else { return }
        switch entry.stage {
        case .planned, .running, .missing:
            entries[entry.lease.number]?.stage = .running(task: task.id, received: task.received)
        case .returning, .landed, .postponed: break
        }
    }

    /// Records that the file of a lease has landed.
    package mutating func landed(_ number: LeaseNumber) -> [HandoverAction] {
        guard let entry = entries[number] else { return [.discard(number)] }
        entries[number]?.stage = .landed
        return [.splice(entry.lease)]
    }

    /// Records that a task has ended.
    package mutating func ended(_ task: SystemTask, _ failure: SystemFailure?) -> [HandoverAction] {
        guard let entry = entry(of: task) else { return [] }
        switch entry.stage {
        case .landed, .postponed: return []
        case .returning where failure == SystemFailure(code: SystemFailure.cancelled):
            return end(entry.lease, .takenBack)
        case .planned, .running, .missing, .returning:
            guard let failure else { return end(entry.lease, .lost) }
            if let stop = failure.stop { return end(entry.lease, .stopped(stop)) }
            return end(entry.lease, .failed(code: failure.code))
        }
    }

    /// Records that the session has delivered all its events.
    package mutating func drained(at now: Duration) -> [HandoverAction] {
        drainedAt = now
        isDrained = true
        return completion()
    }

    // MARK: Listing and taking back

    /// Compares the leases with the tasks that the session lists. Tasks without a lease are cancelled. A lease without
    /// a task ends after a while, or at once if all events were delivered since its task went missing.
    package mutating func listed(_ tasks: [SystemTask], at now: Duration) -> [HandoverAction] {
        var actions: [HandoverAction] = []
        var found: Set<LeaseNumber> = []
        for task in tasks.sorted(by: { $0.id < $1.id }) {
            guard let entry = entry(of: task) else {
                actions.append(.cancel(task: task.id))
                continue
            }
            let number = entry.lease.number
            found.insert(number)
            switch entry.stage {
            case .planned, .missing, .running:
                let rests = resting.contains(entry.lease.download)
                entries[number]?.stage =
                    rests ? .returning(task: task.id) : .running(task: task.id, received: task.received)
                if rests { actions.append(.cancel(task: task.id)) }
            case .returning, .landed, .postponed: break
            }
        }
        for entry in sorted where !found.contains(entry.lease.number) {
            switch entry.stage {
            case .landed, .postponed: break
            case .missing(let since):
                if now - since >= limits.lostAfter || drainedAt.map({ $0 >= since }) ?? false {
                    actions += end(entry.lease, .lost)
                }
            case .planned, .running, .returning: entries[entry.lease.number]?.stage = .missing(since: now)
            }
        }
        return actions
    }

    /// Records that the app is in the foreground. Tasks that have received most of their bytes continue; the others are
    /// cancelled. The range of a cancelled task returns to the app once the task has ended.
    package mutating func cameToForeground(_ tasks: [SystemTask], at now: Duration) -> [HandoverAction] {
        var actions = listed(tasks, at: now)
        for entry in sorted {
            guard case .running(let task, let received) = entry.stage else { continue }
            // A task that has received more than its range is fetching a different file.
            let bytes = entry.lease.bytes
            if let bytes, received <= bytes, Double(received) > limits.keptShare * Double(bytes) { continue }
            entries[entry.lease.number]?.stage = .returning(task: task)
            actions.append(.cancel(task: task))
        }
        return actions
    }

    /// Stops a download until it is handed over again: its tasks are cancelled, now or when they are listed. Landed
    /// files are kept.
    package mutating func takeBack(_ download: DownloadID) -> [HandoverAction] {
        if hasLeases(of: download) { resting.insert(download) }
        return sorted.filter { $0.lease.download == download }.compactMap { entry in
            guard case .running(let task, _) = entry.stage else { return nil }
            entries[entry.lease.number]?.stage = .returning(task: task)
            return .cancel(task: task)
        }
    }

    /// Records that a download is no longer listed.
    package mutating func withdrew(_ download: DownloadID) -> [HandoverAction] {
        var actions: [HandoverAction] = []
        for entry in sorted where entry.lease.download == download {
            switch entry.stage {
            case .running(let task, _), .returning(let task): actions.append(.cancel(task: task))
            case .planned, .missing, .landed, .postponed: break
            }
            actions += end(entry.lease, .withdrawn)
        }
        return actions + completion()
    }

    // MARK: Splicing

    /// Records that a landed file was spliced, refused or kept for later.
    package mutating func spliced(_ number: LeaseNumber, _ result: SpliceResult) -> [HandoverAction] {
        guard let entry = entries[number], entry.stage == .landed else { return [] }
        switch result {
        case .postponed:
            entries[number]?.stage = .postponed
            return completion()
        case .ended(let outcome): return end(entry.lease, outcome) + completion()
        }
    }

    private mutating func end(_ lease: Lease, _ outcome: LeaseOutcome) -> [HandoverAction] {
        entries[lease.number] = nil
        return [.report(LeaseEnd(lease: lease, outcome: outcome)), .save(book), .discard(lease.number)]
    }

    // MARK: Wakes

    /// Records that the system has resumed or started the app for its session, and expects the app to call the completion
    /// handler.
    package mutating func woken() -> [HandoverAction] {
        wakes += 1
        return completion()
    }

    /// Completes all wakes, because the time that the system grants is nearly over. The remaining files are spliced at the next
    /// start.
    package mutating func timeIsUp() -> [HandoverAction] {
        guard wakes > 0 else { return [] }
        (wakes, isDrained) = (0, false)
        return [.complete]
    }

    private mutating func completion() -> [HandoverAction] {
        guard wakes > 0, isDrained, !entries.values.contains(where: { $0.stage == .landed }) else { return [] }
        (wakes, isDrained) = (0, false)
        return [.complete]
    }

    private func entry(of task: SystemTask) -> Entry? {
        guard let ticket = task.ticket.flatMap(LeaseTicket.init), let entry = entries[ticket.number],
            entry.lease.download == ticket.download
        else { return nil }
        return entry
    }
}
