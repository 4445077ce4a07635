import Dispatch

/// The queue on which a connection is used.
final class DatabaseQueue: Sendable {
    private let queue = DispatchQueue(label: "Ferry.Catalogue")
    // SAFETY: used on `queue` alone, and by the deinit of the last owner.
    private nonisolated(unsafe) let database: Database

    init(_ database: sending Database) { self.database = database }

    /// Executes `body` behind what was scheduled before; it must not keep the connection.
    func async(_ body: @escaping @Sendable (Database) -> Void) {
        queue.async { body(self.database) }
    }

    /// Executes `body` behind what was scheduled before, and blocks until it has returned.
    func sync<Value>(_ body: (Database) throws -> Value) rethrows -> Value {
        try queue.sync { try body(database) }
    }
}
