/// Checkpoints: syncing written bytes, then claiming them in the journal.
extension TransferMachine {
    /// Whether a sync is running, and when the last one began.
    struct Checkpoints: Sendable {
        private enum State: Sendable {
            case idle
            case running
            /// The transfer restarted while a sync was running: the sync's snapshot is of the old file.
            case stale
        }
        private var state = State.idle
        private var last: Duration?

        var isIdle: Bool { state == .idle }

        /// Measures the time of the first checkpoint from here.
        mutating func watch(from now: Duration) { if last == nil { last = now } }
        func elapsed(at now: Duration) -> Duration { now - (last ?? now) }

        /// A checkpoint is due, and will begin.
        mutating func order() { state = .running }
        mutating func begin(at now: Duration) { (state, last) = (.running, now) }
        mutating func replaceFile() { if state == .running { state = .stale } }

        /// Ends a checkpoint. Returns whether its snapshot is of the present file.
        mutating func end() -> Bool {
            defer { state = .idle }
            return state != .stale
        }
    }

    /// Unclaimed bytes that trigger a checkpoint.
    static let checkpointBytes: ByteCount = 32 << 20
    /// Unclaimed bytes at which reading is suspended.
    static let mostUnclaimed: ByteCount = 64 << 20
    /// The rate in bytes per second below which checkpoints are less frequent.
    static let slowRate = 1_000_000.0

    /// Whether no checkpoint is running and a later run could use a claim.
    private var mayCheckpoint: Bool { checkpoints.isIdle && (planner.total != nil || file.identity.hasValidator) }

    /// Whether the driver should tick at once instead of at the next interval: to open connections, or to sync, since a
    /// disk that idles until then would delay the transfer at ``mostUnclaimed``.
    package var wantsTick: Bool {
        openings.areUrgent || settings.claims && mayCheckpoint && planner.unclaimedBytes >= Self.checkpointBytes
    }

    /// Due every second or 32 MiB, whichever is first; below 1 MB/s every ten seconds.
    func isCheckpointDue(at now: Duration) -> Bool {
        guard mayCheckpoint else { return false }
        let unclaimed = planner.unclaimedBytes
        guard unclaimed > 0 else { return false }
        if unclaimed >= Self.checkpointBytes { return true }
        let speed = connections.values.reduce(0) { $0 + $1.speed }
        return checkpoints.elapsed(at: now) >= (speed < Self.slowRate ? .seconds(10) : .seconds(1))
    }

    /// Begins a sync; returns the ranges that it covers.
    package mutating func beginCheckpoint(at now: Duration) -> RangeSet<ByteCount> {
        checkpoints.begin(at: now)
        return planner.snapshot()
    }

    /// Ends a sync: claims the snapshot if it succeeded.
    ///
    /// After a failed sync all unclaimed bytes are discarded; the driver must have cancelled all connections before.
    package mutating func checkpointEnded(
        _ snapshot: RangeSet<ByteCount>, succeeded: Bool, at now: Duration
    ) {
        guard checkpoints.end() else { return }
        guard !succeeded else { return planner.claim(snapshot) }
        planner.forgetUnclaimed()
        // The last bytes had completed the file before the sync failed: there are bytes to fetch again.
        if phase == .finishing, !planner.isComplete { enter(file.representation == nil ? .opening : .running) }
    }

    /// Ends a checkpoint that had nothing to sync.
    package mutating func checkpointSkipped() { _ = checkpoints.end() }
}
