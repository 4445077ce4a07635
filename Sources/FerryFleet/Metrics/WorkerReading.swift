import FerryCore
import FerryMetrics

/// The state and counts of a worker, for its metrics. Pure.
struct WorkerReading: Sendable, Hashable {
    /// Whether a heartbeat was answered. The list of downloads stays closed until then, because opening it would resume files whose
    /// leases another worker may hold by now.
    var hasJoined = false
    var leases = 0
    /// The rows of these leases that have no result in the database: waiting, running, or ended but not
    /// yet delivered.
    var waiting = 0
    var running = 0
    var undelivered = 0
    /// Rows that have ended since the start.
    var completed = 0
    var failed = 0
    /// The time since the start.
    var age: Duration = .zero
    /// The time until all files must stop; zero or negative once they must.
    var untilDeadline: Duration = .zero
    /// The time since the last answer of the database.
    var silence: Duration = .zero
    /// Whether the last statement failed because the database was unreachable.
    var isAway = false

    /// The metric families that only a worker has.
    var families: [MetricFamily] {
        [
            MetricFamily(.fleetEnded, [("completed", Double(completed)), ("failed", Double(failed))]),
            MetricFamily(
                .fleetRows,
                [("waiting", Double(waiting)), ("running", Double(running)), ("undelivered", Double(undelivered))]),
            MetricFamily(.fleetLeases, Double(leases)),
            MetricFamily(.fleetDeadline, untilDeadline.seconds),
            MetricFamily(.fleetFenced, untilDeadline <= .zero ? 1 : 0),
            MetricFamily(.fleetUp, hasJoined && !isAway ? 1 : 0),
            MetricFamily(.fleetSilence, silence.seconds),
            MetricFamily(.fleetAge, age.seconds),
        ]
    }
}

extension Metric {
    static let fleetEnded = counter(
        "ferry_fleet_rows_ended_total", labels: ["result"], help: "Rows that ended, by result")
    static let fleetRows = gauge(
        "ferry_fleet_rows", labels: ["state"],
        help: "Rows of held leases: waiting, running, or ended with a result that the database lacks")
    static let fleetLeases = gauge("ferry_fleet_leases", help: "Leases that the worker holds")
    static let fleetDeadline = gauge(
        "ferry_fleet_deadline_seconds",
        help: "Time until all files stop if no heartbeat is answered; negative once they have stopped")
    static let fleetFenced = gauge(
        "ferry_fleet_fenced", help: "1 while no file may run: leases may have expired")
    static let fleetUp = gauge("ferry_fleet_database_up", help: "1 while the database answers the worker")
    static let fleetSilence = gauge(
        "ferry_fleet_silence_seconds", help: "Time since the last answer of the database, or since the start")
    static let fleetAge = gauge(
        "ferry_fleet_worker_seconds", help: "Time since the worker started, by a monotonic clock")

    /// The metrics that only a worker has, in the order of ``WorkerReading/families``.
    static let ofWorker = [
        fleetEnded, fleetRows, fleetLeases, fleetDeadline, fleetFenced, fleetUp, fleetSilence, fleetAge,
    ]
}
