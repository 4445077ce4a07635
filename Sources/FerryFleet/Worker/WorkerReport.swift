import FerryCore
import FerryTerminal

/// What a worker prints, on standard error.
struct WorkerReport: Sendable {
    let console: Console

    func message(_ text: Reason) { console.message("ferry: " + text.shown) }
    func failed(_ error: DatabaseError) { message(error.reason) }
}

/// The ends of a worker's files.
struct WorkerCounts: Sendable {
    var completed = 0
    var failed = 0
    var codes: Set<ExitCode> = []
    /// The code of the signal that stopped the worker.
    var interruption: ExitCode?

    var exitCode: ExitCode { interruption ?? ExitCode.combine(codes) }
}

/// When the database was told or asked what, and how fast rows end.
struct WorkerTimes: Sendable {
    /// The next heartbeat.
    var beatAt: Duration = .zero
    /// The next search for a lease, after there was none.
    var claimAt: Duration = .zero
    /// When a lease was taken that no heartbeat has answered yet.
    var claimedAt: Duration?
    var releaseAt: Duration = .zero
    var budgetsAt: Duration = .zero
    var tidyAt: Duration = .seconds(30)
    /// The next report of a disk or a directory that takes nothing.
    var complainAt: Duration = .zero
    /// Whether the last statement failed for want of the database.
    var isAway = false
    /// Ended rows in a second, a mean of the last minute.
    private(set) var rowsPerSecond = 0.0
    private var ended = 0
    private var since: Duration = .zero

    mutating func countEnd() { ended += 1 }

    /// Takes the rows that have ended since the last call into the mean.
    mutating func measure(at now: Duration) {
        let seconds = Double((now - since).components.seconds)
        guard seconds >= 2 else { return }
        let weight = min(1, seconds / 20)
        rowsPerSecond += weight * (Double(ended) / seconds - rowsPerSecond)
        (ended, since) = (0, now)
    }
}
