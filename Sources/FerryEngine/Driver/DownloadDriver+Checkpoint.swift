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
        let now = environment.clock.now()
        // Storage, record and snapshot must describe the same file, so one critical section reads them all.
        let (place, snapshot, record) = state.withLock { state in
            let place = state.isReplacing ? .none : storage.current
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
            return nil
        case .stream:
            state.withLock { $0.machine.checkpointEnded(snapshot, succeeded: true, at: environment.clock.now()) }
            return nil
        case .pair(let pair):
            let (syncs, boot) = (request.syncsToDisk, fileSystem.bootID)
            switch await environment.pool.run({ Self.claim(record, pair: pair, syncs: syncs, boot: boot) }) {
            case .success:
                state.withLock { state in
                    state.record = record
                    state.machine.checkpointEnded(snapshot, succeeded: true, at: environment.clock.now())
                }
                return nil
            case .failure(let failure): return notClaimed(failure)
            }
        }
    }

    /// Handles a checkpoint that claimed nothing. After a failed sync all unclaimed bytes are distrusted as well,
    /// once all connections have stopped.
    private func notClaimed(_ failure: ClaimFailure) -> DownloadError {
        state.withLock { state in
            if case .sync = failure {
                // No other sync may start before that: it could succeed without the data that this one lost.
                state.distrustsUnclaimed = true
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

    private static func claim(
        _ record: JournalRecord?, pair: Storage.Pair, syncs: Bool, boot: String?
    ) -> Result<Void, ClaimFailure> {
        guard var record else { return .failure(.other(DownloadError(.internal, "a part file without a record"))) }
        do throws(FileError) { if syncs { try pair.part.dataSync() } } catch { return .failure(.sync(error)) }
        do throws(FileError) {
            guard try pair.part.isIntact(length: record.claimed.last?.last ?? 0) else {
                if try pair.part.isNamed() {
                    // The missing bytes are unknown, and later writes would hide the truncation, so drop all claims.
                    var nothing = record
                    nothing.claimed = []
                    try? pair.journal.retract(nothing)
                }
                return .failure(
                    .other(
                        DownloadError(
                            .disk, ErrorPhrase(.partDamaged, "\(pair.paths.part)"))))
            }
        } catch { return .failure(.other(DownloadError(error))) }
        record.unsyncedBoot = syncs ? nil : boot
        do throws(JournalError) { try pair.journal.write(record) } catch { return .failure(.journal(error)) }
        return .success(())
    }

    // MARK: Disk faults

    /// Handles a failed write or sync. The first EIO reopens the part file; any other failure ends the run.
    func faulted(_ error: FileError) {
        let isMended = state.withLock { state in
            if state.damage != nil { return true }
            guard error.kind == .io, !state.hasReopened, case .pair = storage.current else { return false }
            state.hasReopened = true
            state.damage = DownloadError(error)
            return true
        }
        if !isMended { fail(DownloadError(error)) }
        updates.notify()
    }

    /// Stops all connections, reopens the part file and fetches again what is not claimed.
    func mend(_ damage: DownloadError) async {
        state.withLock { $0.distrustsUnclaimed = true }
        let wasComplete = state.withLock { $0.machine.planner.isComplete }
        await drain()
        do throws(DownloadError) {
            // The machine may already have reported completion; the next run starts from the claims.
            guard !wasComplete, let pair = storage.pair else { throw damage }
            pair.part.close()
            let part: PartFile
            do throws(PartFileError) {
                part = try PartFile.open(pair.paths.part, fileSystem: fileSystem)
            } catch { throw DownloadError(error) }
            storage.set(.pair(Storage.Pair(paths: pair.paths, part: part, journal: pair.journal)))
            guard part.device == pair.part.device, part.inode == pair.part.inode else {
                throw DownloadError(.disk, ErrorPhrase(.partReplaced, "\(pair.paths.part)"))
            }
            report(.event(.note(Reason(.openedAnew, damage.reason))))
        } catch { fail(error) }
        state.withLock { $0.damage = nil }
    }

    /// Checks the free space for a file of unknown length, which must not fill the disk. ``checkFloor(at:)`` runs
    /// each second, this check after each eighth of the free space, however fast it is used.
    func checkRoom() throws(DownloadError) {
        guard let pair = storage.pair else { return }
        let space = DirectorySpace(
            pair.paths.directory, floor: settings.minFreeBytes, fileSystem: fileSystem)
        let free: ByteCount
        do throws(FileError) { free = try space.free() } catch { throw DownloadError(error) }
        let room = free - max(0, settings.minFreeBytes)
        if room < 0 { try checkSpace(in: pair.paths.directory, for: nil) }
        state.withLock { $0.roomUntil = $0.machine.planner.writtenBytes + max(0, room) / 8 }
    }

    /// Checks the free space each second, because other programs write to the disk too.
    func checkFloor(at now: Duration) {
        let isDue = state.withLock { state in
            guard state.machine.planner.total == nil, now - (state.lastSpaceCheck ?? .zero) >= .seconds(1) else {
                return false
            }
            state.lastSpaceCheck = now
            return true
        }
        guard isDue, let pair = storage.pair else { return }
        do throws(DownloadError) { try checkSpace(in: pair.paths.directory, for: nil) } catch { fail(error) }
    }
}

extension DownloadDriver.State {
    /// Returns the record that holds once `snapshot` is synced.
    func nextRecord(claiming snapshot: RangeSet<ByteCount>) -> JournalRecord? {
        guard var record else { return nil }
        record.take(tags)
        record.claimed = machine.planner.claimed.union(snapshot.intersection(machine.planner.written)).pairs
        record.mismatch = nil
        record.publishing = nil
        // A new link is not yet proven to lead to this file, so its fields keep the old link's values.
        if machine.isLinkUnproven { return record }
        // The source of the validators comes first.
        let texts =
            (sources.indices.contains(primary) ? [sources[primary].text] : []) + sources.map(\.text) + record.urls
        var seen: Set<String> = []
        record.urls = Array(texts.filter { seen.insert($0).inserted }.prefix(DownloadRequest.mostSources))
        record.totalBytes = machine.planner.total
        record.identity = machine.identity
        record.checksum = checksum?.description
        record.offered = (machine.representation?.digests.first ?? offered)?.description
        record.weakestJoin = machine.joinOnResume
        return record
    }
}
