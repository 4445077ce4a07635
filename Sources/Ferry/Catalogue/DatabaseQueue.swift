import Dispatch

/// The serial queue on which a connection is used.
final class DatabaseQueue: Sendable {
    private let queue = DispatchQueue(label: "Ferry.Catalogue")
    // SAFETY: used on `queue` alone, and by the deinit of the last owner.
    private nonisolated(unsafe) let database: Database
    private let metrics: ManagerMetrics

    init(_ database: sending Database, _ metrics: ManagerMetrics) {
        self.database = database
        self.metrics = metrics
    }

    /// How an operation uses the database.
    enum Operation { case read, write }

    /// Executes `body` after everything that was scheduled before; `body` must not keep the connection.
    func async(_ operation: Operation, _ body: @escaping @Sendable (Database) -> Void) {
        let scheduled = ContinuousClock.now
        queue.async {
            body(self.database)
            self.metrics.did(operation, in: ContinuousClock.now - scheduled)
        }
    }

    /// Executes `body` after everything that was scheduled before, and blocks until `body` has returned.
    func sync<Value>(_ body: (Database) throws -> Value) rethrows -> Value {
        try queue.sync { try body(database) }
    }
}
