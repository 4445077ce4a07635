import FerryCore
import Synchronization

/// Computes the digest of a growing file while it is fetched, behind the unbroken run of bytes from its start.
final class DigestFollower: Sendable {
    private struct State {
        var digest: PrefixDigest?
        /// The part file that it reads.
        var part: PartFile?
        var task: Task<Void, Never>?
    }
    private let driver: DownloadDriver
    private let state = Mutex(State())

    init(_ driver: DownloadDriver) { self.driver = driver }

    /// Takes what has come since, on another thread; does nothing while the last piece is under way.
    func follow() {
        guard let algorithm = driver.state.withLock({ $0.digestToCheck })?.algorithm, let pair = driver.storage.pair
        else { return }
        // Only what is claimed: bytes that a failed sync takes back must not be in the digest.
        let end = driver.state.withLock { $0.machine.planner.claimed.prefixEnd }
        state.withLock { state in
            guard state.task == nil else { return }
            if state.part !== pair.part || state.digest?.algorithm != algorithm {
                state.digest = PrefixDigest(algorithm, of: pair.part.file)
                state.part = pair.part
            }
            guard let digest = state.digest, end - digest.position >= 8 << 20 else { return }
            // owner: this object; awaited in stop().
            state.task = Task { await self.advance(digest, to: end) }
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

    /// Waits for what is under way.
    func stop() async { await state.withLock { $0.task }?.value }

    /// The digest of the whole file, read to `total`.
    func finish(_ algorithm: DigestAlgorithm, of pair: Storage.Pair, total: ByteCount) async throws(DownloadError)
        -> [UInt8]
    {
        await stop()
        let begun = state.withLock { $0.part === pair.part ? $0.digest : nil }
        let result: Result<[UInt8], FileError> = await driver.environment.pool.run {
            var digest = PrefixDigest(algorithm, of: pair.part.file)
            if let begun, begun.algorithm == algorithm { digest = begun }
            do throws(FileError) {
                try digest.advance(to: total)
                return .success(digest.finish())
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(let bytes): return bytes
        case .failure(let error): throw DownloadError(error)
        }
    }
}

extension DownloadDriver.State {
    /// The digest that the whole must have: the one asked for, else the strongest that the server offers.
    var digestToCheck: Checksum? { checksum ?? machine.entity?.digests.first }
}
