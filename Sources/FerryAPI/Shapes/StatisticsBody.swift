package import FerryCore

/// Numbers and sizes of the downloads of the session or, with `session=all`, of all sessions.
package struct StatisticsBody: Codable, Sendable, Hashable {
    /// The number of downloads that are downloading or verifying.
    package var running = 0
    package var waiting = 0
    package var paused = 0
    package var failed = 0
    package var completed = 0
    package var cancelled = 0
    package var bytesPerSecond: Int64 = 0
    /// Disk space of unfinished downloads in bytes.
    package var partBytes: ByteCount = 0
    /// Total size of completed downloads.
    package var finishedBytes: ByteCount = 0
    /// Free space in the session's directory in bytes; 0 when unknown.
    package var freeBytes: ByteCount = 0
    /// Seconds since the daemon started.
    package var uptime: Double = 0

    package init() {}
}
