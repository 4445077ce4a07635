import FerryCore
import NIOPosix

/// Makes the changes of one file in order, on a thread for blocking work: a sync would otherwise block an event loop,
/// and every request that waits for the same lock.
final class FileChanges: Sendable {
    private let lock = AsyncLock()

    /// Runs a change of the file and of what mirrors it in memory. The next change begins when this one has ended.
    ///
    /// Cancellation does not end a change.
    func run<Value: Sendable, Failure: Error>(
        _ change: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        await lock.acquire()
        defer { lock.release() }
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            // The shared pool is never shut down.
            NIOThreadPool.singleton.submit { _ in
                let result: Result<Value, Failure>
                do throws(Failure) { result = .success(try change()) } catch { result = .failure(error) }
                continuation.resume(returning: result)
            }
        }
        return try result.get()
    }
}
