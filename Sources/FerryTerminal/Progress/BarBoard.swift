package import Ferry
import FerryCore

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// The content of one frame of bars.
package struct BarBoard: Sendable, Hashable {
    /// The running files, in the order of the command line.
    package var running: [DownloadStatus]
    package var whole: WholeProgress
    /// The current time, for the delay until the next attempt.
    package var now: Date

    package init(running: [DownloadStatus], whole: WholeProgress, now: Date) {
        self.running = running
        self.whole = whole
        self.now = now
    }
}

/// The combined progress of all files.
package struct WholeProgress: Sendable, Hashable {
    /// The number of files of the command.
    package var fileCount: Int
    /// Whether ``fileCount`` is an estimate.
    package var isEstimate = false
    /// The number of completed files.
    package var finishedCount: Int
    package var failedCount: Int
    /// The bytes on disk of running and finished files.
    package var completedBytes: ByteCount
    /// `nil` while the size of any file is unknown.
    package var totalBytes: ByteCount?
    package var bytesPerSecond: Double
    package var connections: Int
    /// The sum of the fractions of running files.
    package var openFraction = 0.0

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

    /// The fraction by bytes if all sizes are known, otherwise by files; `nil` without files.
    package var fraction: Double? {
        if let totalBytes, totalBytes > 0 { return min(1, Double(completedBytes) / Double(totalBytes)) }
        return fileCount > 0 ? min(1, (Double(endedCount) + openFraction) / Double(fileCount)) : nil
    }

    /// The remaining time at the current speed; `nil` if size or speed is unknown, or if it exceeds a thousand days.
    package var timeRemaining: Duration? {
        guard let totalBytes, totalBytes >= completedBytes, bytesPerSecond.isFinite, bytesPerSecond > 0 else {
            return nil
        }
        let seconds = Double(totalBytes - completedBytes) / bytesPerSecond
        return seconds < 86_400_000 ? .seconds(seconds) : nil
    }

    /// `3 of 12 files, 1 failed`.
    package var label: String {
        let text: Reason =
            switch (fileCount, failedCount) {
            case (_, 0) where isEstimate: "\(finishedCount) of about \(fileCount) files"
            case _ where isEstimate: "\(finishedCount) of about \(fileCount) files, \(failedCount) failed"
            case (1, 0): "\(finishedCount) of 1 file"
            case (_, 0): "\(finishedCount) of \(fileCount) files"
            default: "\(finishedCount) of \(fileCount) files, \(failedCount) failed"
            }
        return text.local
    }
}
