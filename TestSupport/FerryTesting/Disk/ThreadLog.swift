import Synchronization

/// The names of the threads that made a call; see `enter` of ``FaultyFileSystem``.
package final class ThreadLog: Sendable {
    private let seen = Mutex<[String: Int]>([:])

    package init() {}

    /// Records the calling thread.
    package func note() {
        let name = Self.current
        seen.withLock { $0[name, default: 0] += 1 }
    }

    /// The threads, and how many calls each made.
    package var names: [String: Int] { seen.withLock { $0 } }
}
