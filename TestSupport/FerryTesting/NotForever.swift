/// The failure of a wait that should have ended.
public struct Hang: Error, CustomStringConvertible {
    public let description: String
}

/// Runs a body that waits for an event which occurs unless there is a bug.
///
/// After `limit`, which only guards against a hang, throws a ``Hang`` with the result of `seen` at that moment, and cancels
/// the body, which must then end.
public func notForever<Value: Sendable>(
    _ what: String, limit: Duration = .seconds(600), seen: @escaping @Sendable () -> String,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() ?? nil else {
            throw Hang(description: "\(what) did not come within \(limit):\n\(seen())")
        }
        return value
    }
}
