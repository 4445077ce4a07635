import FerryCore
import Synchronization
import SystemPackage

/// Sync, then claim.
extension DownloadDriver {
    /// Makes everything that is written by now durable, and lets the journal say so. The transfer goes on meanwhile.
    func checkpoint() async {
        let now = environment.clock.now()
        let snapshot = state.withLock { $0.machine.beginCheckpoint(at: now) }
        let result: Result<Void, DownloadError>
        switch storage.current {
        case .pair(let pair):
            let record = state.withLock { $0.nextRecord(claiming: snapshot) }
            let (syncs, boot) = (request.syncsToDisk, environment.fileSystem.bootID)
            result = await environment.pool.run { Self.claim(record, pair: pair, syncs: syncs, boot: boot) }
            if case .success = result { state.withLock { $0.record = record } }
        case .none, .small: result = .failure(DownloadError(.internal, ""))
        case .stream: result = .success(())
        }
        let succeeded = if case .success = result { true } else { false }
        state.withLock { state in
            // Bytes in memory stay written, and unclaimed.
            if case .pair = storage.current {} else if !succeeded { return state.machine.checkpointSkipped() }
            state.machine.checkpointEnded(snapshot, succeeded: succeeded, at: environment.clock.now())
        }
        if case .failure(let error) = result, case .pair = storage.current { fail(error) }
        checkpointDone.ring()
        bell.ring()
    }

    private static func claim(
        _ record: JournalRecord?, pair: Storage.Pair, syncs: Bool, boot: String?
    ) -> Result<Void, DownloadError> {
        guard var record else { return .failure(DownloadError(.internal, "a part file without a record")) }
        do {
            if syncs { try pair.part.dataSync() }
            let reach = record.claimed.last?.last ?? 0
            guard try pair.part.isIntact(length: reach) else {
                return .failure(
                    DownloadError(
                        .disk, "the part file \(pair.paths.part) was deleted, shortened or replaced by another program"))
            }
            record.unsyncedBoot = syncs ? nil : boot
            try pair.journal.write(record)
            return .success(())
        } catch let error as FileError {
            return .failure(DownloadError(error))
        } catch let error as JournalError {
            return .failure(DownloadError(error))
        } catch {
            return .failure(DownloadError(.disk, "\(error)"))
        }
    }
}

extension DownloadDriver.State {
    /// The record as it will be once `snapshot` is synced.
    func nextRecord(claiming snapshot: RangeSet<ByteCount>) -> JournalRecord? {
        guard var record else { return nil }
        record.totalBytes = machine.planner.total
        record.identity = machine.identity
        record.checksum = checksum?.description
        record.claimed = machine.planner.claimed.union(snapshot.intersection(machine.planner.written)).pairs
        record.weakestJoin = machine.joinOnResume
        record.mismatch = nil
        record.publishing = nil
        return record
    }
}
