import Dispatch

/// A thread for work that blocks; see ``start(_:stackSize:_:)``.
package final class SystemThread: Sendable {
    /// The name that `top` and `perf` show, at most 15 bytes.
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }

    /// Runs `body` on a thread of its own, or on a queue if the system has no more threads.
    ///
    /// - Parameter stackSize: In bytes.
    package static func detach(_ name: String, stackSize: Int, _ body: @escaping @Sendable () -> Void) {
        if start(name, stackSize: stackSize, body) != 0 { DispatchQueue.global().async(execute: body) }
    }
}
