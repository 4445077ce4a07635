import FerryCore
import Synchronization

/// Retraction of the bytes of a response that did not match its `Content-Digest`.
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
            state.timesForgotten += 1
        }
        // A running checkpoint may still claim some of the ranges; the retraction must follow it.
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
