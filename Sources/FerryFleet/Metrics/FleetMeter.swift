package import CoreMetrics
import FerryCore
import Synchronization

/// What the connections of a worker to its database give to the metrics system: the times of statements, failures,
/// connections; and when the database has last answered.
package final class FleetMeter: Sendable {
    private let times: [FleetStatement: CoreMetrics.Timer]
    private let failures: [FleetStatement: Counter]
    private let connections: Counter
    private let answered = Mutex(ContinuousClock.now)

    /// - Parameter factory: The metrics system; by default one that keeps nothing.
    package init(_ factory: any MetricsFactory = NOOPMetricsHandler.instance) {
        func labels(_ metric: Metric, _ statement: FleetStatement) -> [(String, String)] {
            Array(zip(metric.labels, [statement.rawValue]))
        }
        var times: [FleetStatement: CoreMetrics.Timer] = [:]
        var failures: [FleetStatement: Counter] = [:]
        for statement in FleetStatement.allCases {
            times[statement] = CoreMetrics.Timer(
                label: Metric.fleetStatements.rawValue, dimensions: labels(.fleetStatements, statement),
                factory: factory)
            failures[statement] = Counter(
                label: Metric.fleetFailures.rawValue, dimensions: labels(.fleetFailures, statement), factory: factory)
        }
        (self.times, self.failures) = (times, failures)
        connections = Counter(label: Metric.fleetConnections.rawValue, factory: factory)
    }

    /// Runs a statement. A refusal of the database is an answer too, and a failure.
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

    /// Counts a connection that was made.
    func connected() { connections.increment() }

    /// The time since the last answer of the database, or since the start.
    func silence(at now: ContinuousClock.Instant) -> Duration { answered.withLock { now - $0 } }

    private func answer(to statement: FleetStatement, since start: ContinuousClock.Instant) {
        let now = ContinuousClock.now
        times[statement]?.recordNanoseconds(Int64(min((now - start).seconds, 1e9) * 1e9))
        answered.withLock { $0 = max($0, now) }
    }
}
