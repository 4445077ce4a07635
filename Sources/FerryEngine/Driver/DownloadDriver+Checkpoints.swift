import FerryCore
import Synchronization
import SystemPackage

/// Checkpoints: sync the part file, then claim its ranges in the journal.
extension DownloadDriver {
    /// Makes all written ranges durable and claims them in the journal, while the transfer continues.
    ///
    /// Failures are handled here; the error is returned for reporting only.
    @discardableResult
    func checkpoint() async -> DownloadError? {
        await lock.acquire()
        defer { lock.release() }
        return await files.run { [self] disk in checkpointInTurn(disk) }
    }

    private func checkpointInTurn(_ disk: Disk) -> DownloadError? {
        let now = environment.clock.now()
        // Storage, record and snapshot must describe the same file, so one critical section reads them all.
        let (place, snapshot, record) = state.withLock { state in
            let place = state.placement.isReplacing ? .none : storage.current
            let snapshot = state.machine.beginCheckpoint(at: now)
            return (place, snapshot, state.nextRecord(claiming: snapshot))
        }
        defer {
            checkpointDone.notify()
            updates.notify()
        }
        switch place {
        case .none, .small:
            // Bytes in memory stay written but unclaimed.
            state.withLock { $0.machine.checkpointSkipped() }
        case .stream:
            state.withLock { $0.machine.checkpointEnded(snapshot, succeeded: true, at: environment.clock.now()) }
        case .pair(let pair):
            do throws(ClaimFailure) { try claim(record, in: pair, disk) } catch { return notClaimed(error) }
            let end = environment.clock.now()
            state.withLock { state in
                state.placement.record = record
                state.machine.checkpointEnded(snapshot, succeeded: true, at: end)
            }
            environment.metrics.checkpointed(in: end - now)
        }
        return nil
    }

    /// Handles a checkpoint that claimed nothing. After a failed sync all unclaimed bytes are distrusted as well,
    /// once all connections have stopped.
    private func notClaimed(_ failure: ClaimFailure) -> DownloadError {
        state.withLock { state in
            if case .sync = failure {
                // No other sync may start before that: it could succeed without the data that this one lost.
                state.faults.distrustsUnclaimed = true
            } else {
                state.machine.checkpointSkipped()
            }
        }
        switch failure {
        case .sync(let error): faulted(error)
        case .journal(.file(let error)) where error.kind == .io: faulted(error)
        default: fail(failure.error)
        }
        return failure.error
    }

    enum ClaimFailure: Error {
        case sync(FileError)
        case journal(JournalError)
        case other(DownloadError)

        var error: DownloadError {
            switch self {
            case .sync(let error): DownloadError(error)
            case .journal(let error): DownloadError(error)
            case .other(let error): error
            }
        }
    }

    private func claim(_ record: JournalRecord?, in pair: Storage.Pair, _ disk: Disk) throws(ClaimFailure) {
        guard var record else { throw .other(DownloadError(.internal, "a part file without a record")) }
        let (part, journal, syncs) = (pair.part(disk), pair.journal(disk), request.syncsToDisk)
        let start = environment.clock.now()
        do throws(FileError) { if syncs { try part.dataSync() } } catch { throw .sync(error) }
        if syncs { environment.metrics.synced(in: environment.clock.now() - start) }
        let isIntact: Bool
        do throws(FileError) {
            isIntact = try part.isIntact(length: record.claimed.last?.last ?? 0)
            if !isIntact, try part.isNamed() {
                // The missing bytes are unknown, and later writes would hide the truncation, so drop all claims.
                var nothing = record
                nothing.claimed = []
                try? journal.retract(nothing)
            }
        } catch { throw .other(DownloadError(error)) }
        guard isIntact else { throw .other(DownloadError(.disk, ErrorPhrase(.partDamaged, "\(pair.paths.part)"))) }
        record.unsyncedBoot = syncs ? nil : disk.fileSystem.bootID
        do throws(JournalError) { try journal.write(record) } catch { throw .journal(error) }
    }

    // MARK: Disk faults

    /// Handles a failed write or sync. The first EIO reopens the part file; any other failure ends the run.
    func faulted(_ error: FileError) {
        let isMended = state.withLock { state in
            state.faults.mends(error, ofPair: storage.pair != nil)
        }
        if !isMended { fail(DownloadError(error)) }
        updates.notify()
    }

    /// Stops all connections, reopens the part file and fetches the unclaimed ranges again.
    func mend(_ damage: DownloadError) async {
        state.withLock { $0.faults.distrustsUnclaimed = true }
        let wasComplete = state.withLock { $0.machine.planner.isComplete }
        await drain()
        do throws(DownloadError) {
            // The machine may already have reported completion; the next run starts from the claims.
            guard !wasComplete, let pair = storage.pair else { throw damage }
            try await files.run { [self] disk throws(DownloadError) in try reopen(pair, disk) }
            report(.event(.note(Reason(.openedAnew, damage.reason))))
        } catch { fail(error) }
        state.withLock { $0.faults.mending = .done }
    }

    private func reopen(_ pair: Storage.Pair, _ disk: Disk) throws(DownloadError) {
        let (old, part) = (pair.part(disk), pair.paths.part)
        old.close()
        let new: PartFile
        do throws(PartFileError) { new = try PartFile.open(part, fileSystem: disk.fileSystem) } catch {
            throw DownloadError(error)
        }
        storage.set(.pair(Storage.Pair(paths: pair.paths, part: new, journal: pair.journal(disk))))
        guard new.device == old.device, new.inode == old.inode else {
            throw DownloadError(.disk, ErrorPhrase(.partReplaced, "\(part)"))
        }
    }

    /// Checks the free space for a file of unknown length, which must not fill the disk. ``checkFloor(at:)`` runs
    /// each second, this check after each eighth of the free space, however fast it is used.
    func checkRoom(_ disk: Disk) throws(DownloadError) {
        guard let pair = storage.pair else { return }
        let space = DirectorySpace(
            pair.paths.directory, reserve: settings.minFreeBytes, fileSystem: disk.fileSystem)
        let room: ByteCount
        do throws(FileError) {
            let (free, reserve) = try space.measure()
            room = free - reserve
        } catch { throw DownloadError(error) }
        if room < 0 { try checkSpace(in: pair.paths.directory, for: nil, disk) }
        state.withLock { $0.space.enoughUntil = $0.machine.planner.writtenBytes + max(0, room) / 8 }
    }

    /// Checks the free space each second, because other programs write to the disk too.
    func checkFloor(at now: Duration) async {
        let isDue = state.withLock { state in
            state.machine.planner.total == nil && state.space.isDue(at: now)
        }
        guard isDue, let pair = storage.pair else { return }
        do throws(DownloadError) {
            try await files.run { [self] disk throws(DownloadError) in
                try checkSpace(in: pair.paths.directory, for: nil, disk)
            }
        } catch { fail(error) }
    }
}

extension DownloadDriver.State {
    /// Returns the record that holds once `snapshot` is synced.
    func nextRecord(claiming snapshot: RangeSet<ByteCount>) -> JournalRecord? {
        guard var record = placement.record else { return nil }
        record.take(placement.tags)
        record.claimed = machine.planner.claimed.union(snapshot.intersection(machine.planner.written)).pairs
        if !machine.planner.isComplete { record.mismatch = nil }
        record.publishing = nil
        // A new link is not yet proven to lead to this file, so its fields keep the old link's values.
        if machine.isLinkUnproven { return record }
        // The source of the validators comes first.
        let given = links.given.map(\.text)
        let texts = (given.indices.contains(links.primary) ? [given[links.primary]] : []) + given + record.urls
        var seen: Set<String> = []
        record.urls = Array(texts.filter { seen.insert($0).inserted }.prefix(DownloadRequest.mostSources))
        record.totalBytes = machine.provenTotal
        record.identity = machine.file.identity
        record.checksum = digest.requested?.description
        record.offered = (machine.file.representation?.digests.first ?? digest.offered)?.description
        record.weakestJoin = machine.file.weakestJoin
        return record
    }
}

/// Retraction of the bytes of a response that did not match its `Content-Digest`, or of a file that was cut short.
extension DownloadDriver {
    /// Forgets the ranges that the response wrote, and returns once no journal claims any of them: only then may
    /// their bytes change.
    ///
    /// A crash before the journal is written leaves the claims, as for a response without a digest.
    func takeBack(_ check: MessageCheck, actual: Checksum, on id: ConnectionID) async throws(DownloadError) {
        if case .stream = storage.current {
            throw DownloadError(
                .checksum, ErrorPhrase(.wrongDigestInStream, "\(check.expected)", "\(actual)"),
                suggestion: ErrorPhrase(.doNotUse))
        }
        state.withLock { state in
            state.machine.forget(check.written, on: id)
            state.faults.timesForgotten += 1
        }
        try await retract(check.written)
    }

    /// Goes on with the download if the file's end was only assumed, and its digest refutes it. Returns whether it does.
    func wasCutShort() async throws(DownloadError) -> Bool {
        let forgotten = state.withLock { state in
            let forgotten = state.machine.cutShort(at: environment.clock.now(), random: environment.random())
            if forgotten != nil { state.faults.timesForgotten += 1 }
            return forgotten
        }
        guard let forgotten else { return false }
        report(.state(.downloading))
        if !forgotten.isEmpty { try await retract(forgotten) }
        return true
    }

    /// Returns once no journal claims the forgotten ranges, which may be fetched again then.
    func retract(_ ranges: RangeSet<ByteCount>) async throws(DownloadError) {
        // A running checkpoint may still claim some of the ranges; the retraction must follow it.
        await lock.acquire()
        defer { lock.release() }
        try await files.run { [self] disk throws(DownloadError) in try retract(disk) }
        state.withLock { $0.machine.allow(ranges) }
    }

    private func retract(_ disk: Disk) throws(DownloadError) {
        guard let pair = storage.pair,
            var record = state.withLock({ $0.placement.isReplacing ? nil : $0.nextRecord(claiming: RangeSet()) })
        else { return }
        record.unsyncedBoot = request.syncsToDisk ? nil : disk.fileSystem.bootID
        let retracted = record
        do throws(JournalError) { try pair.journal(disk).retract(retracted) } catch { throw DownloadError(error) }
        state.withLock { $0.placement.record = retracted }
    }
}
