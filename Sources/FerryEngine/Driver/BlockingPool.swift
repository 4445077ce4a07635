import NIOPosix

/// Threads for calls that block for long: syncs, digests, publishing. Keeps them off Swift's cooperative pool.
package final class BlockingPool: Sendable {
    private let pool: NIOThreadPool

    /// Starts `threads` threads, which run until ``shutdown()``.
    package init(threads: Int = 4) {
        pool = NIOThreadPool(numberOfThreads: threads)
        pool.start()
    }

    /// Runs `body` on one of the threads and returns its result; on the caller's thread when the pool is shut down or
    /// the task is cancelled before a thread is free.
    package func run<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
        do {
            return try await pool.runIfActive { body() }
        } catch {
            // The work must be done in any case, so the caller blocks for it.
            return body()
        }
    }

    package func shutdown() async { try? await pool.shutdownGracefully() }
}
