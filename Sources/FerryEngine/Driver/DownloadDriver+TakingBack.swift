import FerryCore
import Synchronization

/// An answer did not have its digest (A45): what it brought is taken back, and fetched again.
extension DownloadDriver {
    /// Forgets what the answer wrote, and returns when no journal claims any of it: only then its bytes may change
    /// (C2).
    ///
    /// Killed before the journal was written, the claims stand as for an answer without a digest.
    func takeBack(_ check: MessageCheck, actual: Checksum, on id: ConnectionID) async throws(DownloadError) {
        if case .stream = storage.current {
            throw DownloadError(
                .checksum, ErrorPhrase(.wrongDigestInStream, "\(check.expected)", "\(actual)"),
                suggestion: ErrorPhrase(.doNotUse))
        }
        state.withLock { state in
            state.machine.forget(check.written, on: id)
            state.timesForgotten += 1
        }
        // A checkpoint that is under way may still claim some of it in the journal: what is said now comes after it.
        await lock.acquire()
        defer { lock.release() }
        if let pair = storage.pair { try await retract(in: pair) }
        state.withLock { $0.machine.allow(check.written) }
    }

    private func retract(in pair: Storage.Pair) async throws(DownloadError) {
        guard var record = state.withLock({ $0.isReplacing ? nil : $0.nextRecord(claiming: RangeSet()) }) else {
            return
        }
        record.unsyncedBoot = request.syncsToDisk ? nil : fileSystem.bootID
        let retracted = record
        let result: Result<Void, JournalError> = await environment.pool.run {
            do throws(JournalError) { return .success(try pair.journal.retract(retracted)) } catch {
                return .failure(error)
            }
        }
        do throws(JournalError) { try result.get() } catch { throw DownloadError(error) }
        state.withLock { $0.record = retracted }
    }
}
