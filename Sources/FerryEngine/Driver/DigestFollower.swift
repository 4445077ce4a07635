import FerryCore
import Synchronization

/// Computes the digest of a file during its transfer, over the contiguous prefix that the journal claims.
final class DigestFollower: Sendable {
    private struct State {
        var digest: PrefixDigest?
        /// The part file that the digest reads.
        var part: PartFile?
        /// The value of ``DownloadDriver/State/timesForgotten`` when the digest was started.
        var timesForgotten = 0
        var task: Task<Void, Never>?
    }
    private let driver: DownloadDriver
    private let state = Mutex(State())

    init(_ driver: DownloadDriver) { self.driver = driver }

    /// Starts reading the newly claimed prefix on another thread; does nothing while an earlier read is in progress.
    func follow() {
        guard let algorithm = driver.state.withLock({ $0.digestToCheck })?.algorithm, let pair = driver.storage.pair
        else { return }
        // Only claimed bytes: bytes that a failed sync discards must not enter the digest.
        let (end, timesForgotten) = driver.state.withLock { ($0.machine.planner.claimed.prefixEnd, $0.timesForgotten) }
        state.withLock { state in
            guard state.task == nil else { return }
            if state.part !== pair.part || state.digest?.algorithm != algorithm
                || state.timesForgotten != timesForgotten
            {
                state.digest = PrefixDigest(algorithm, of: pair.part.file)
                state.part = pair.part
                state.timesForgotten = timesForgotten
            }
            guard let digest = state.digest, end - digest.position >= 8 << 20 else { return }
            // owner: this object; awaited in stop().
            state.task = Task(executorPreference: driver.light) { await self.advance(digest, to: end) }
        }
    }

    private func advance(_ digest: PrefixDigest, to end: ByteCount) async {
        let advanced = await driver.environment.pool.run { () -> PrefixDigest? in
            var copy = digest
            return (try? copy.advance(to: end)) == nil ? nil : copy
        }
        state.withLock { state in
            if let advanced, state.digest != nil { state.digest = advanced }
            state.task = nil
        }
    }

    /// Waits for the read in progress.
    func stop() async { await state.withLock { $0.task }?.value }

    /// Returns the digest of the first `total` bytes, or `nil` when the download was stopped meanwhile.
    func finish(_ algorithm: DigestAlgorithm, of pair: Storage.Pair, total: ByteCount) async throws(DownloadError)
        -> [UInt8]?
    {
        await stop()
        let timesForgotten = driver.state.withLock { $0.timesForgotten }
        let begun = state.withLock { state in
            state.part === pair.part && state.timesForgotten == timesForgotten ? state.digest : nil
        }
        let digest =
            begun.flatMap { $0.algorithm == algorithm ? $0 : nil } ?? PrefixDigest(algorithm, of: pair.part.file)
        return try await driver.read(digest, to: total)
    }
}

extension DownloadDriver {
    /// Reads a file up to `end` on another thread and returns its digest, or `nil` when the download was stopped
    /// meanwhile.
    func read(_ digest: PrefixDigest, to end: ByteCount) async throws(DownloadError) -> [UInt8]? {
        var digest = digest
        repeat {
            if stopWanted != nil { return nil }
            let (from, goal) = (digest, min(end, digest.position + 8 << 20))
            let result: Result<PrefixDigest, FileError> = await environment.pool.run {
                var digest = from
                do throws(FileError) { try digest.advance(to: goal) } catch { return .failure(error) }
                return .success(digest)
            }
            switch result {
            case .success(let advanced): digest = advanced
            case .failure(let error): throw DownloadError(error)
            }
        } while digest.position < end
        return digest.finish()
    }
}

extension DownloadDriver.State {
    /// The digest that the whole file must have: the requested one, else the strongest that the server offers.
    var digestToCheck: Checksum? { checksum ?? machine.representation?.digests.first ?? offered }
}
