import FerryCore

/// The users whose connections were refused, and the times of the last log entries about them: at most one in ten minutes per
/// user. Pure.
struct RefusedUsers: Sendable {
    private struct Count: Sendable {
        var connections = 0
        var toldAt: ContinuousClock.Instant?
    }
    private var counts = RecentValues<UInt32, Count>(capacity: 100)
    private static let interval: Duration = .seconds(600)

    /// Counts a connection. If another log entry is due, returns the number of connections since the last one.
    mutating func refused(_ user: UInt32, at now: ContinuousClock.Instant) -> Int? {
        var count = counts[user] ?? Count()
        count.connections += 1
        defer { counts[user] = count }
        if let toldAt = count.toldAt, now - toldAt < Self.interval { return nil }
        count.toldAt = now
        defer { count.connections = 0 }
        return count.connections
    }
}
