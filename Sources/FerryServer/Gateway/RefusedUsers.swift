import FerryCore

/// The users whose connections were refused, and when the log last said so: once in ten minutes for each. Pure.
struct RefusedUsers: Sendable {
    private struct Count: Sendable {
        var connections = 0
        var toldAt: Duration?
    }
    private var counts = RecentValues<UInt32, Count>(capacity: 100)
    private static let interval: Duration = .seconds(600)

    /// Counts a connection. Returns the number of those since the last line of the log if it is time for another.
    mutating func refused(_ user: UInt32, at now: Duration) -> Int? {
        var count = counts[user] ?? Count()
        count.connections += 1
        defer { counts[user] = count }
        if let toldAt = count.toldAt, now - toldAt < Self.interval { return nil }
        count.toldAt = now
        defer { count.connections = 0 }
        return count.connections
    }
}
