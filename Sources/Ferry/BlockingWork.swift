import FerryEngine

/// Runs `body`, which may block, on a file thread, so that it blocks neither an event loop nor a thread of Swift's pool.
///
/// Cancelling the task does not interrupt `body`: the call returns once `body` has returned.
package func onFileThread<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Value
) async throws(Failure) -> Value {
    try await EngineProvider.files.run { _ throws(Failure) in try body() }
}

/// Runs `body`, which may block indefinitely, on its own thread, or on a queue if the system cannot create another thread.
///
/// - Parameters:
///   - name: The name that `top` and `perf` show, at most 15 bytes.
///   - stackSize: The size of the thread's stack, in bytes.
package func onOwnThread(_ name: String, stackSize: Int = 128 << 10, _ body: @escaping @Sendable () -> Void) {
    SystemThread.detach(name, stackSize: stackSize, body)
}

/// Runs `body` and its child tasks on file threads, including after each suspension. The caller must not be isolated to an
/// actor.
package func onFileThreads<Value>(_ body: () async -> Value) async -> Value {
    await EngineProvider.files.stay { _ in await body() }
}

/// Runs `body`, which blocks until the process ends, on its own thread, because it would occupy a queue or a file thread
/// permanently. Returns 0, or the error number if the system cannot create another thread.
package func onLastingThread(_ name: String, stackSize: Int, _ body: @escaping @Sendable () -> Void) -> Int32 {
    SystemThread.start(name, stackSize: stackSize, body)
}

extension Collection where Element: Sendable {
    /// Runs `body` for each element in its own task, with at most `most` tasks at a time. Returns the results in no particular
    /// order.
    package func concurrently<Result: Sendable>(
        atMost most: Int = 64, _ body: @escaping @Sendable (Element) async -> Result
    ) async -> [Result] {
        await withTaskGroup(of: Result.self) { group in
            var results: [Result] = []
            results.reserveCapacity(count)
            for (index, element) in enumerated() {
                if index >= most, let result = await group.next() { results.append(result) }
                group.addTask { await body(element) }
            }
            for await result in group { results.append(result) }
            return results
        }
    }
}
