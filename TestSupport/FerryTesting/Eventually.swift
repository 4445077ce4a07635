/// Polls until a condition holds that has no event; limited only by the test's own time limit.
///
/// If there is an event, wait for that instead.
public func eventually(_ isSo: () throws -> Bool) async throws {
    while !(try isSo()) { try await Task.sleep(for: .milliseconds(2)) }
}
