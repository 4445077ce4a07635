import FerryEngine

/// Runs `body`, which blocks, on a file thread: it would hold up an event loop or a thread of Swift's pool.
///
/// A cancelled task waits for it as well.
package func onFileThread<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Value
) async throws(Failure) -> Value {
    try await EngineProvider.files.run { _ throws(Failure) in try body() }
}

/// Runs `body`, which may block for as long as it likes, on a thread of its own; on a queue if the system has no more
/// threads.
///
/// - Parameters:
///   - name: The name that `top` and `perf` show, at most 15 bytes.
///   - stackSize: In bytes.
package func onOwnThread(_ name: String, stackSize: Int = 128 << 10, _ body: @escaping @Sendable () -> Void) {
    SystemThread.detach(name, stackSize: stackSize, body)
}

/// Runs `body` and its child tasks on file threads, between their suspensions too. The caller must not be isolated to
/// an actor.
package func onFileThreads<Value>(_ body: () async -> Value) async -> Value {
    await EngineProvider.files.stay { _ in await body() }
}

/// Runs `body`, which blocks for the time of the process, on a thread of its own. Returns 0, or the error number if the system
/// has no more threads: a queue or a file thread would be held for good.
package func onLastingThread(_ name: String, stackSize: Int, _ body: @escaping @Sendable () -> Void) -> Int32 {
    SystemThread.start(name, stackSize: stackSize, body)
}

extension Collection where Element: Sendable {
    /// Runs `body` for each element in its own task, at most `most` at a time; returns the results in no order.
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
