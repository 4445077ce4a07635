import FerryCore
import Synchronization

/// Computes the digest of a file during its transfer, over the contiguous prefix that the journal claims.
final class DigestFollower: Sendable {
    private struct State {
        var digest: PrefixDigest?
        /// The part file that the digest reads.
        var pair: Storage.Pair?
        /// The value of ``DownloadDriver/State/timesForgotten`` when the digest was started.
        var timesForgotten = 0
        var task: Task<Void, Never>?

        /// Whether the digest is one of the bytes that the part file has now.
        func isOf(_ pair: Storage.Pair, _ algorithm: DigestAlgorithm, _ timesForgotten: Int) -> Bool {
            self.pair?.hasSamePart(as: pair) == true && digest.map { $0.algorithm == algorithm } ?? true
                && self.timesForgotten == timesForgotten
        }
    }
    private let driver: DownloadDriver
    private let state = Mutex(State())

    init(_ driver: DownloadDriver) { self.driver = driver }

    /// Starts reading the newly claimed prefix on another thread; does nothing while an earlier read is in progress.
    func follow() {
        // Only claimed bytes: bytes that a failed sync discards must not enter the digest.
        let (checksum, end, timesForgotten) = driver.state.withLock {
            ($0.digestToCheck, $0.machine.planner.claimed.prefixEnd, $0.faults.timesForgotten)
        }
        guard let algorithm = checksum?.algorithm, let pair = driver.storage.pair else { return }
        state.withLock { state in
            guard state.task == nil else { return }
            if !state.isOf(pair, algorithm, timesForgotten) {
                (state.digest, state.pair, state.timesForgotten) = (nil, pair, timesForgotten)
            }
            let digest = state.digest
            guard end - (digest?.position ?? 0) >= 8 << 20 else { return }
            // owner: this object; awaited in stop().
            state.task = Task(executorPreference: driver.loop) {
                await self.advance(digest, algorithm, of: pair, to: end)
            }
        }
    }

    private func advance(
        _ digest: PrefixDigest?, _ algorithm: DigestAlgorithm, of pair: Storage.Pair, to end: ByteCount
    ) async {
        let advanced = await driver.files.run { disk -> PrefixDigest? in
            var copy = digest ?? PrefixDigest(algorithm, of: pair.part(disk).file)
            return (try? copy.advance(to: end)) == nil ? nil : copy
        }
        state.withLock { state in
            if let advanced { state.digest = advanced }
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
        let timesForgotten = driver.state.withLock { $0.faults.timesForgotten }
        let begun = state.withLock { $0.isOf(pair, algorithm, timesForgotten) ? $0.digest : nil }
        return try await driver.read(to: total) { begun ?? PrefixDigest(algorithm, of: pair.part($0).file) }
    }
}

extension DownloadDriver {
    /// Reads a file up to `end`, on from the digest that `begin` returns, and returns the digest of all; `nil` when
    /// the download was stopped meanwhile.
    func read(
        to end: ByteCount, _ begin: @escaping @Sendable (Disk) -> PrefixDigest
    ) async throws(DownloadError) -> [UInt8]? {
        var begun: PrefixDigest?
        repeat {
            if stopWanted != nil { return nil }
            do throws(FileError) {
                begun = try await files.run { [begun] disk throws(FileError) in
                    var digest = begun ?? begin(disk)
                    try digest.advance(to: min(end, digest.position + 8 << 20))
                    return digest
                }
            } catch { throw DownloadError(error) }
        } while begun.map { $0.position < end } ?? true
        return begun?.finish()
    }
}

extension DownloadDriver.State {
    /// The digest that the whole file must have: the requested one, else the strongest that the server offers.
    var digestToCheck: Checksum? { digest.requested ?? machine.representation?.digests.first ?? digest.offered }
}
