package import FerryCore

/// How many downloads there are, and what they hold; of the session, or of all with `session=all`.
package struct StatisticsBody: Codable, Sendable, Hashable {
    /// Those that download or verify.
    package var running = 0
    package var waiting = 0
    package var paused = 0
    package var failed = 0
    package var completed = 0
    package var cancelled = 0
    package var bytesPerSecond: Int64 = 0
    /// What unfinished downloads hold.
    package var partBytes: ByteCount = 0
    /// The sizes of the completed ones.
    package var finishedBytes: ByteCount = 0
    /// Free space where the session's downloads go; 0 when it is unknown.
    package var freeBytes: ByteCount = 0
    /// Seconds since the daemon started.
    package var uptime: Double = 0

    package init() {}
}
