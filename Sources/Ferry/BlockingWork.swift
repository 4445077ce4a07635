import FerryEngine

/// Runs `body`, which blocks, on a file thread: it would hold up an event loop or a thread of Swift's pool.
///
/// A cancelled task waits for it as well.
package func onFileThread<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Value
) async throws(Failure) -> Value {
    try await EngineProvider.files.run { _ throws(Failure) in try body() }
}

/// Runs `body` and its child tasks on file threads, between their suspensions too. The caller must not be isolated to
/// an actor.
package func onFileThreads<Value>(_ body: () async -> Value) async -> Value {
    await EngineProvider.files.stay { _ in await body() }
}
