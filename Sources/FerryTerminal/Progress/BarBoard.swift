package import Ferry
package import struct Foundation.Date

/// All that a frame of bars shows.
package struct BarBoard: Sendable, Hashable {
    /// The files that run, in the order in which they were asked for.
    package var running: [DownloadStatus]
    package var whole: WholeProgress
    /// For the time until the next attempt.
    package var now: Date

    package init(running: [DownloadStatus], whole: WholeProgress, now: Date) {
        self.running = running
        self.whole = whole
        self.now = now
    }
}

/// How far all files together are.
package struct WholeProgress: Sendable, Hashable {
    /// All files of the command; it grows while a list is read.
    package var fileCount: Int
    /// Those that ended well.
    package var finishedCount: Int
    package var failedCount: Int
    /// The bytes that are held of files that are running or finished.
    package var completedBytes: ByteCount
    /// `nil` while the size of any file is unknown.
    package var totalBytes: ByteCount?
    package var bytesPerSecond: Double
    package var connections: Int

    package init(
        fileCount: Int = 0, finishedCount: Int = 0, failedCount: Int = 0, completedBytes: ByteCount = 0,
        totalBytes: ByteCount? = nil, bytesPerSecond: Double = 0, connections: Int = 0
    ) {
        self.fileCount = fileCount
        self.finishedCount = finishedCount
        self.failedCount = failedCount
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
        self.bytesPerSecond = bytesPerSecond
        self.connections = connections
    }

    package var endedCount: Int { finishedCount + failedCount }

    /// By bytes when all sizes are known, else by files; `nil` when there is nothing to count.
    package var fraction: Double? {
        if let totalBytes, totalBytes > 0 { return min(1, Double(completedBytes) / Double(totalBytes)) }
        return fileCount > 0 ? min(1, Double(endedCount) / Double(fileCount)) : nil
    }

    /// The time left at this speed; `nil` when size or speed is unknown, at most a thousand days.
    package var timeRemaining: Duration? {
        guard let totalBytes, totalBytes >= completedBytes, bytesPerSecond.isFinite, bytesPerSecond > 0 else {
            return nil
        }
        let seconds = Double(totalBytes - completedBytes) / bytesPerSecond
        return seconds < 86_400_000 ? .seconds(seconds) : nil
    }

    /// `3 of 12 files, 1 failed`.
    package var label: String {
        let files = "\(finishedCount) of \(fileCount) file\(fileCount == 1 ? "" : "s")"
        return failedCount == 0 ? files : "\(files), \(failedCount) failed"
    }
}
