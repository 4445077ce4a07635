/// When what was written is synced and claimed.
extension TransferMachine {
    /// Unsynced bytes that start a checkpoint.
    static let checkpointBytes: ByteCount = 32 << 20
    /// Unsynced bytes that stop reading.
    static let mostUnsynced: ByteCount = 64 << 20
    /// Below this many bytes a second, checkpoints are rarer.
    static let slowRate = 1_000_000.0

    /// None is under way, and a claim would be worth something to a later run.
    private var mayCheckpoint: Bool { !isCheckpointing && (planner.total != nil || identity.hasValidator) }

    /// So much is unsynced that the driver should tick at once rather than at the next interval: a disk that idles until
    /// then is what would stop the reading.
    package var wantsCheckpoint: Bool {
        settings.syncs && mayCheckpoint && planner.unsyncedBytes >= Self.checkpointBytes
    }

    /// Each second or 32 MiB, whichever is first; below 1 MB/s up to ten seconds apart.
    func isCheckpointDue(at now: Duration) -> Bool {
        guard mayCheckpoint else { return false }
        let unsynced = planner.unsyncedBytes
        guard unsynced > 0 else { return false }
        if unsynced >= Self.checkpointBytes { return true }
        let speed = connections.values.reduce(0) { $0 + $1.speed }
        return now - (lastCheckpoint ?? now) >= (speed < Self.slowRate ? .seconds(10) : .seconds(1))
    }

    /// A sync begins now; the ranges that it covers.
    package mutating func beginCheckpoint(at now: Duration) -> RangeSet<ByteCount> {
        isCheckpointing = true
        isCheckpointStale = false
        lastCheckpoint = now
        return planner.snapshot()
    }

    /// The sync has returned. The ranges that the journal may claim.
    ///
    /// After a failed sync nothing that is not claimed is believed; the driver cuts everyone before it says so.
    package mutating func checkpointEnded(
        _ snapshot: RangeSet<ByteCount>, succeeded: Bool, at now: Duration
    ) {
        isCheckpointing = false
        if isCheckpointStale { return }
        guard !succeeded else { return planner.claim(snapshot) }
        planner.forgetUnclaimed()
        // The last bytes came before it was known that the disk did not keep them: there is something to fetch again.
        if phase != .ended, !planner.isComplete { isFinishing = false }
    }

    /// There was nothing to sync.
    package mutating func checkpointSkipped() { isCheckpointing = false }

    /// What the next run's joins start from: a file that is not whole yet will be joined.
    package var joinOnResume: Proof? { weakestJoin }
}
