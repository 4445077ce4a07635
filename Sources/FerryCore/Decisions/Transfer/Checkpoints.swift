extension TransferMachine {
    /// Whether a sync is running, and when the last one started.
    struct Checkpoints: Sendable {
        private enum State: Sendable {
            case idle
            case running
            /// The transfer restarted while a sync was running, so the sync's snapshot belongs to the previous file.
            case stale
        }
        private var state = State.idle
        private var last: Duration?

        var isIdle: Bool { state == .idle }

        /// Starts the interval before the first checkpoint. Later calls have no effect.
        mutating func watch(from now: Duration) { if last == nil { last = now } }
        func elapsed(at now: Duration) -> Duration { now - (last ?? now) }

        /// Records that a checkpoint is due and is about to begin.
        mutating func order() { state = .running }
        mutating func begin(at now: Duration) { (state, last) = (.running, now) }
        mutating func replaceFile() { if state == .running { state = .stale } }

        /// Ends a checkpoint. Returns whether its snapshot belongs to the current file.
        mutating func end() -> Bool {
            defer { state = .idle }
            return state != .stale
        }
    }
}
