/// Wakes one who waits; rung while he is awake, he looks again.
final class Doorbell: Sendable {
    private let rings: AsyncStream<Void>
    private let ringing: AsyncStream<Void>.Continuation

    init() { (rings, ringing) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

    func ring() { ringing.yield() }
    func end() { ringing.finish() }

    /// Returns at the next ring, true; false at the end, and when the task is cancelled. For one who waits.
    func wait() async -> Bool {
        for await _ in rings { return true }
        return false
    }
}
