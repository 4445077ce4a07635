package import CoreMetrics
import FerryCore
import Synchronization

/// Reports a worker's use of its database to the metrics system: the durations of statements, failures, and connections. Records
/// when the database last answered.
package final class FleetMeter: Sendable {
    private let times: [FleetStatement: CoreMetrics.Timer]
    private let failures: [FleetStatement: Counter]
    private let connections: Counter
    private let answered = Mutex(ContinuousClock.now)

    /// - Parameter factory: The metrics system; by default one that discards everything.
    package init(_ factory: any MetricsFactory = NOOPMetricsHandler.instance) {
        func labels(_ metric: Metric, _ statement: FleetStatement) -> [(String, String)] {
            Array(zip(metric.labels, [statement.rawValue]))
        }
        var times: [FleetStatement: CoreMetrics.Timer] = [:]
        var failures: [FleetStatement: Counter] = [:]
        for statement in FleetStatement.allCases {
            times[statement] = CoreMetrics.Timer(
                label: Metric.fleetStatements.name, dimensions: labels(.fleetStatements, statement),
                factory: factory)
            failures[statement] = Counter(
                label: Metric.fleetFailures.name, dimensions: labels(.fleetFailures, statement), factory: factory)
        }
        (self.times, self.failures) = (times, failures)
        connections = Counter(label: Metric.fleetConnections.name, factory: factory)
    }

    /// Runs and measures a statement. A refusal by the database counts as an answer and as a failure.
    func measure<Value>(
        _ statement: FleetStatement, _ body: () throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        let start = ContinuousClock.now
        do throws(DatabaseError) {
            let value = try body()
            answer(to: statement, since: start)
            return value
        } catch {
            failures[statement]?.increment()
            if error.state != nil { answer(to: statement, since: start) }
            throw error
        }
    }

    /// Counts a new connection.
    func connected() { connections.increment() }

    /// The time since the last answer of the database, or since the start.
    func silence(at now: ContinuousClock.Instant) -> Duration { answered.withLock { now - $0 } }

    private func answer(to statement: FleetStatement, since start: ContinuousClock.Instant) {
        let now = ContinuousClock.now
        times[statement]?.recordNanoseconds(Int64(min((now - start).seconds, 1e9) * 1e9))
        answered.withLock { $0 = max($0, now) }
    }
}

extension Metric {
    static let fleetStatements = histogram(
        "ferry_fleet_statement_seconds", labels: ["statement"],
        buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
        help: "Time of a statement that the fleet's database answered, without waiting for its turn")
    static let fleetFailures = counter(
        "ferry_fleet_statements_failed_total", labels: ["statement"],
        help: "Failed statements of the fleet's database, also without a connection")
    static let fleetConnections = counter(
        "ferry_fleet_connections_total", help: "Connections that were made to the fleet's database")

    /// The metrics that a ``FleetMeter`` reports to the metrics system.
    static let ofStatements = [fleetStatements, fleetFailures, fleetConnections]
}
