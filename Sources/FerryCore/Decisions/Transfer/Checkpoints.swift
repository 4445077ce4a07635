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
}
