/// Polls until a condition without an event holds; limited only by the test's own time limit.
///
/// If there is an event, wait for it instead.
///
/// - Parameters:
///   - interval: The time between two polls; default 2 ms.
///   - isSo: The condition.
public func eventually(
    every interval: Duration = .milliseconds(2), _ isSo: () async throws -> Bool
) async throws {
    while !(try await isSo()) { try await Task.sleep(for: interval) }
}
