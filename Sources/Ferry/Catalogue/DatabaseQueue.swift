import Dispatch

/// The queue on which a connection is used.
final class DatabaseQueue: Sendable {
    private let queue = DispatchQueue(label: "Ferry.Catalogue")
    // SAFETY: used on `queue` alone, and by the deinit of the last owner.
    private nonisolated(unsafe) let database: Database
    private let metrics: ManagerMetrics

    init(_ database: sending Database, _ metrics: ManagerMetrics) {
        self.database = database
        self.metrics = metrics
    }

    /// What is done with the database.
    enum Operation { case read, write }

    /// Executes `body` behind what was scheduled before; it must not keep the connection.
    func async(_ operation: Operation, _ body: @escaping @Sendable (Database) -> Void) {
        let scheduled = ContinuousClock.now
        queue.async {
            body(self.database)
            self.metrics.did(operation, in: ContinuousClock.now - scheduled)
        }
    }

    /// Executes `body` behind what was scheduled before, and blocks until it has returned.
    func sync<Value>(_ body: (Database) throws -> Value) rethrows -> Value {
        try queue.sync { try body(database) }
    }
}
