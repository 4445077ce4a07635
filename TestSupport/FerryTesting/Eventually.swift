/// Waits for something that nobody tells of, by looking again and again; for as long as the test's own time limit lets it.
///
/// Not for what has an event: wait for that.
public func eventually(_ isSo: () throws -> Bool) async throws {
    while !(try isSo()) { try await Task.sleep(for: .milliseconds(2)) }
}
