import FerryCore
import FerryEngine
import SystemPackage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The leases of the system's session, while the list is open.
///
///     event of the session ─► arrived ─► pump: places of the leased downloads, HandoverKeeper.settle ─► splice, report
///     launch ─► holdForLeases: a run of a download with leases waits until they have ended, or for a while
extension Scheduler {
    /// The directory of leases and landed files, in the state directory.
    private static let directory = "handover"

    /// Creates the session again and reads the leases; `nil` without a session, or if the leases cannot be read.
    func openKeeper(at place: String) async -> HandoverKeeper? {
        if let keeper = handover.keeper { return keeper }
        guard let transfer = configuration.backgroundTransfer, let session = makeSession(transfer) else { return nil }
        do throws(DownloadError) {
            let fileSystem = await withFiles { $0 }
            return try await HandoverKeeper.open(
                session, landing: LandingDirectory(FilePath(place).appending(Self.directory)), fileSystem: fileSystem,
                limits: transfer.limits, manager: keeperManager(fileSystem))
        } catch {
            complain(error)
            return nil
        }
    }

    private func keeperManager(_ fileSystem: any FileSystem) -> HandoverKeeper.Manager {
        let clock = clock
        return HandoverKeeper.Manager(
            open: { [weak self] lease, head throws(DownloadError) in try self?.pair(of: lease, head, fileSystem) },
            exclusively: { [weak self] id, splice in await self?.spliceAlone(id, splice) ?? .postponed },
            report: { [weak self] end throws(DownloadError) in try await self?.ended(end) },
            failed: { [weak self] _, error in self?.complain(error) },
            arrived: { [weak self] in self?.pumpHandover() }, now: { clock.now() }, date: { clock.date() })
    }

    /// Opens the part file and the journal of a lease, or creates them for a whole file that has landed. Blocks.
    private func pair(
        of lease: Lease, _ head: ResponseHead?, _ fileSystem: any FileSystem
    ) throws(DownloadError) -> HandoverPair? {
        let id = lease.download
        guard var place = handover.place(of: id) else {
            throw DownloadError(.internal, "where \(id) is has not been read")
        }
        if let pair = try place.open(id, fileSystem) { return pair }
        guard lease.range == nil, place.isAbsent(fileSystem), let head,
            let pair = try place.make(id, landed: head, at: clock.date(), fileSystem)
        else { return nil }
        handover.made(place, of: id)
        return pair
    }

    // MARK: Executing

    /// Starts executing the keeper's pending work; returns at once.
    func pumpHandover() { handover.pump { [weak self] in await self?.settleHandover() } }

    /// Executes the keeper's pending work.
    func settleHandover() async {
        let (held, isNew) = handover.takeNew()
        guard let keeper = held else { return }
        let ids = Set(keeper.leases.map(\.download))
        await readPlaces(of: ids)
        // After an error, the remaining work waits for the next event.
        do throws(DownloadError) {
            if isNew {
                for id in ids { keeper.retried(id) }
                for id in queue.parked(among: ids) { keeper.takeBack(id) }
            }
            if isNew || keeper.isMissingTask { try await keeper.compare() }
            try await keeper.settle()
        } catch { complain(error) }
        let free = handover.release()
        if !free.isEmpty {
            queue.wake(free)
            reschedule()
        }
        updates.notify()
    }

    /// Reads the places of the part files of leased downloads.
    func readPlaces(of ids: Set<DownloadID>) async {
        guard let rows = try? await store?.rows(ids.sorted { $0.rawValue < $1.rawValue }) else { return }
        let read = Dictionary(rows.map { ($0.id, place(of: $0)) }) { first, _ in first }
        handover.read(read)
    }

    private func place(of row: CatalogueRow) -> HandoverPlace {
        HandoverPlace(row, fetchesUnproven: configuration.backgroundTransfer?.fetchesUnproven ?? false)
    }

    /// Calls `body` while no run and no action uses the download's files.
    private func spliceAlone(_ id: DownloadID, _ body: @Sendable () async -> SpliceResult) async -> SpliceResult {
        guard let store else { return .postponed }
        let live: LiveDownload?
        do throws(DownloadError) { live = try await self.live(id, in: store) } catch { return .postponed }
        guard let live else { return .ended(.withdrawn) }
        await live.lock.acquire()
        defer { live.lock.release() }
        if live.isClosed || !live.current.actions.contains(.cancel) { return .ended(.withdrawn) }
        guard queue.holdIdle(id) else { return .postponed }
        let result = await body()
        // Store the name before a run can begin, because the run would choose another name.
        switch result {
        // The process may have been killed after the claim and before the name was stored in the list.
        case .ended(.claimed), .ended(.repeated): await keepPlace(of: live)
        case .ended, .postponed: break
        }
        queue.endChange([id])
        updates.notify()
        reschedule()
        return result
    }

    /// Stores the name and the part file that a download received with a landed file.
    private func keepPlace(of live: LiveDownload) async {
        guard let paths = handover.place(of: live.id)?.paths,
            let row = try? await store?.row(live.id), row.part == nil
        else { return }
        let path = paths.final.string
        live.set(name: paths.name, path: path)
        do throws(DownloadError) {
            try await commit([.update(live.id, [.name(paths.name, path: path), .part(paths.part.string)])])
        } catch { complain(error) }
    }

    /// Stores and reports the end of a lease.
    private func ended(_ end: LeaseEnd) async throws(DownloadError) {
        let id = end.lease.download
        guard let store, let row = try await store.row(id) else { return }
        var fields: [RowField] = []
        switch end.outcome {
        case .claimed, .repeated:
            let place = handover.place(of: id) ?? place(of: row)
            if let held = await withFiles({ place.held(by: id, $0) }) {
                fields.append(.progress(completedBytes: held.completedBytes, totalBytes: held.totalBytes))
                known(id)?.fetched(held.completedBytes, of: held.totalBytes)
            }
        case .refused: handover.noteRefusal(of: id)
        case .takenBack, .stopped, .failed, .lost, .withdrawn: break
        }
        // All leases of one suspension count as one attempt.
        if end.outcome.isAttempt, !row.state.isFinal, handover.countAttempt(of: id) {
            fields.append(.attempts(row.attempts + 1, retryAt: row.retryAt))
        }
        var changes: [StoreChange] = fields.isEmpty ? [] : [.update(id, fields)]
        let note = end.outcome.phrase.map { event(.note(.phrase($0)), of: id) }
        // The changes must be durable before this lease is removed from the stored leases.
        if let note { changes.append(.record(note)) }
        if !changes.isEmpty { try await commit(changes) }
        if let note { log.append(note) }
        told(id)
    }

    // MARK: Runs of leased downloads

    /// Returns the time until which a run must wait for the system; `nil` if it need not wait.
    ///
    /// A lease does not mark bytes as received, so a run that does not wait does no harm: bytes that it has fetched before the file
    /// lands are not written again.
    func holdForLeases(_ id: DownloadID) -> Duration? {
        let until = handover.hold(id, at: clock.now())
        if until != nil { pumpHandover() }
        return until
    }

    /// Splices files that landed during a run. Called when the run has ended.
    func retryLanded(_ id: DownloadID) { withLeases(of: [id]) { $0.retried($1) } }

    /// Takes back the leases of downloads that the user has paused, so that the system stops too.
    func takeBackLeases(of ids: [DownloadID]) { withLeases(of: ids) { $0.takeBack($1) } }

    /// Takes back all leases after a change of the network rules, because tasks that have begun would keep the old rules.
    func takeBackAllLeases() {
        guard let keeper = handover.keeper else { return }
        for id in Set(keeper.leases.map(\.download)) { keeper.takeBack(id) }
        pumpHandover()
    }

    /// Withdraws the leases of downloads that have ended or start over, because data from the system is no longer needed.
    func withdrawLeases(of ids: [DownloadID]) { withLeases(of: ids) { $0.withdrew($1) } }

    private func withLeases(of ids: [DownloadID], _ change: (HandoverKeeper, DownloadID) -> Void) {
        guard let keeper = handover.keeper else { return }
        let leased = ids.filter { keeper.leases(of: $0).any }
        for id in leased { change(keeper, id) }
        if !leased.isEmpty { pumpHandover() }
    }

    // MARK: Handing over

    /// The maximum number of downloads in one handover, which has at most a hundred tasks.
    private static let maxCandidates = 400

    /// Leases the missing bytes of the running and waiting downloads to the system, and reports why other downloads stay with
    /// the app. Called when the runs have ended.
    ///
    /// - Parameter answered: The responses of the servers to the runs.
    func handOver(_ answered: [DownloadID: DownloadDriver.Answered]) async {
        guard let keeper = handover.keeper, let store else { return }
        let active = queue.active.prefix(Self.maxCandidates)
        let allNeeds = Dictionary(active.map { ($0.id, $0.needs) }) { first, _ in first }
        guard let rows = try? await store.rows(active.map(\.id)) else { return }
        handover.forgetRefusals(of: answered.filter { $1.isProven != nil }.keys)
        var refusals: [DownloadID: HandoverRefusal] = [:]
        var candidates: [HandoverCandidate] = []
        for row in rows where row.state.mayBeHandedOver {
            let needs = allNeeds[row.id] ?? NetworkNeeds()
            do throws(HandoverRefusal) {
                if let candidate = try await candidate(row, answered[row.id], needs) { candidates.append(candidate) }
            } catch { refusals[row.id] = error }
        }
        var random = SystemRandomNumberGenerator()
        do throws(DownloadError) {
            try await keeper.compare()
            refusals.merge(try await keeper.handOver(candidates, space: space(), using: &random)) { $1 }
        } catch { complain(error) }
        tell(refusals)
    }

    /// The number of bytes that may land beside the part files; `nil` if it cannot be determined.
    private func space() async -> ByteCount? {
        guard case .catalogue(_, let directory, _) = configuration.storage else { return nil }
        let reserve = configuration.minFreeBytes
        return await withFiles { fileSystem in
            (try? DirectorySpace(FilePath(directory), reserve: reserve, fileSystem: fileSystem).measure())
                .map { max(0, $0.free - $0.reserve) }
        }
    }

    /// Returns the download as the system would continue it; `nil` if its next run must complete a step first.
    private func candidate(
        _ row: CatalogueRow, _ answered: DownloadDriver.Answered?, _ needs: NetworkNeeds
    ) async throws(HandoverRefusal) -> HandoverCandidate? {
        let configuration = configuration
        guard let transfer = configuration.backgroundTransfer else { return nil }
        let secrets = row.hasSecrets ? try? await vault.secrets(of: row.id) : nil
        if row.hasSecrets, secrets == nil { throw .obstacle(.credentials) }
        let request = row.request(with: secrets)
        guard let source = request.sources.first else { return nil }
        if handover.hasRefused(row.id) { throw .refusedBefore }
        let place = place(of: row)
        let (record, isAbsent) = await withFiles { (place.record(of: row.id, $0), place.isAbsent($0)) }
        let unproven: UnprovenHandover =
            transfer.fetchesUnproven || request.trust.resumesUnproven ? .whole : .wait
        if isAbsent, answered?.isProven == false, unproven == .wait { throw .unproven }
        let settings = configuration.transfer.with(request.connection)
        let target: HandoverTarget
        do throws(HandoverObstacle) {
            target = try HandoverTarget.choose(
                for: request, source: source, target: answered?.target,
                isDirect: answered.map { $0.target == nil } ?? false, settings: settings, now: clock.date())
        } catch { throw .obstacle(error) }
        if record == nil, !isAbsent { return nil }
        let claimed = record.flatMap { RangeSet(pairs: $0.claimed) } ?? RangeSet()
        var candidate = HandoverCandidate(
            download: row.id, target: target, identity: record?.identity ?? FileIdentity(),
            total: record?.totalBytes, claimed: claimed)
        // Several ranges, or a range that does not begin at zero, were received as partial content.
        let ranges = claimed.ranges
        if ranges.count > 1 || ranges.first?.lowerBound ?? 0 > 0 { candidate.hasRanges = true }
        if answered?.lacksRanges == true { candidate.hasRanges = false }
        candidate.isNew = record == nil
        candidate.unproven = unproven
        candidate.needs = needs
        candidate.notBefore = row.entry.wakeAt.flatMap { $0 > clock.date() ? $0 : nil }
        candidate.priority = request.priority
        candidate.accepts = transfer.accepts
        candidate.obstacles = HandoverObstacle.demands(
            of: request, settings: settings, url: target.url, total: record?.totalBytes,
            isLimited: configuration.rateLimit != nil,
            hasBudget: configuration.server.hostBudget != HostBudget()
                || configuration.server.domainBudget != HostBudget())
        return candidate
    }

    /// Reports once for each download why it stays with the app.
    private func tell(_ refusals: [DownloadID: HandoverRefusal]) {
        for (id, refusal) in refusals {
            guard let phrase = refusal.phrase, handover.noteReason(phrase, of: id) else { continue }
            happened(.note(.phrase(phrase)), to: id)
        }
    }
}

extension DownloadState {
    /// Whether the system may continue a download in this state.
    fileprivate var mayBeHandedOver: Bool {
        switch self {
        case .downloading, .verifying, .waiting(.slot), .waiting(.server), .waiting(.network), .waiting(.retry),
            .waiting(.notBefore):
            true
        case .waiting, .paused, .failed, .completed, .cancelled: false
        }
    }
}
