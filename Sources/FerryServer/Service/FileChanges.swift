import Ferry
import FerryCore

/// Makes the changes of one file in order, on a file thread: a sync would otherwise block an event loop,
/// and every request that waits for the same lock.
final class FileChanges: Sendable {
    private let lock = AsyncLock()

    /// Runs a change of the file and of its copy in memory. The next change begins when this one has ended.
    ///
    /// Cancellation does not end a change.
    func run<Value: Sendable, Failure: Error>(
        _ change: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        await lock.acquire()
        defer { lock.release() }
        return try await onFileThread(change)
    }
}
