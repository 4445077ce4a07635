import FerryCore
import FerryTerminal

/// Prints the messages of a worker on standard error.
struct WorkerReport: Sendable {
    let console: Console

    func message(_ text: Reason) { console.message("ferry: " + text.shown) }
    func failed(_ error: DatabaseError) { message(error.reason) }
}

/// The numbers of a worker's ended files.
struct WorkerCounts: Sendable {
    var completed = 0
    var failed = 0
    var codes: Set<ExitCode> = []
    /// The code of the signal that stopped the worker.
    var interruption: ExitCode?

    var exitCode: ExitCode { interruption ?? ExitCode.combine(codes) }
}

/// The times of the worker's statements, and the rate at which rows end.
struct WorkerTimes: Sendable {
    /// The time of the next heartbeat.
    var beatAt: Duration = .zero
    /// The time of the next search for a lease, after there was none.
    var claimAt: Duration = .zero
    /// When a lease was taken that no heartbeat has confirmed yet.
    var claimedAt: Duration?
    var releaseAt: Duration = .zero
    var budgetsAt: Duration = .zero
    var tidyAt: Duration = .seconds(30)
    /// The time of the next report of an error that may concern every row.
    var complainAt: Duration = .zero
    /// Whether the last statement failed because the database was unreachable.
    var isAway = false
    /// The moving average of the number of rows that end per second.
    private(set) var rowsPerSecond = 0.0
    private var ended = 0
    private var since: Duration = .zero

    mutating func countEnd() { ended += 1 }

    /// Adds the rows that have ended since the last call to the moving average.
    mutating func measure(at now: Duration) {
        let seconds = Double((now - since).components.seconds)
        guard seconds >= 2 else { return }
        let weight = min(1, seconds / 20)
        rowsPerSecond += weight * (Double(ended) / seconds - rowsPerSecond)
        (ended, since) = (0, now)
    }
}
