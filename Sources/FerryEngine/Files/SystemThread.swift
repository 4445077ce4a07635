/// A thread for work that blocks; see ``start(_:stackSize:_:)``.
package final class SystemThread: Sendable {
    /// The name that `top` and `perf` show, at most 15 bytes.
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}
