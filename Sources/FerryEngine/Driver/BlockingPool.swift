import NIOPosix

/// Threads for calls that block long: syncs, digests, publishing. Never Swift's cooperative ones.
package final class BlockingPool: Sendable {
    private let pool: NIOThreadPool

    /// Starts `threads` threads; they end with ``shutdown()``.
    package init(threads: Int = 4) {
        pool = NIOThreadPool(numberOfThreads: threads)
        pool.start()
    }

    /// Runs the body on one of the threads and gives what it returns.
    package func run<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
        do {
            return try await pool.runIfActive { body() }
        } catch {
            // The pool has been shut down: what remains is little, and is done here.
            return body()
        }
    }

    package func shutdown() async { try? await pool.shutdownGracefully() }
}
