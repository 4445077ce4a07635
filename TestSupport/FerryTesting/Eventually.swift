/// Polls until a condition is true. Only the test's own time limit ends the wait.
///
/// If an event announces the condition, wait for the event instead.
///
/// - Parameters:
///   - interval: The time between two polls; default 2 ms.
///   - isSo: The condition.
public func eventually(
    every interval: Duration = .milliseconds(2), _ isSo: () async throws -> Bool
) async throws {
    while !(try await isSo()) { try await Task.sleep(for: interval) }
}
