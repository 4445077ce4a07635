package import Ferry

/// When a line of progress is due where there is no terminal: facts and the time go in, lines come out.
///
/// A few files have lines of their own; with more than ``fewFiles`` there is only a line for the whole, so that the
/// output of a long list stays short.
package struct PlainProgress: Sendable {
    /// Up to so many files in the command are reported one by one.
    package static let fewFiles = 8
    /// A line is due after this much time, whatever happened.
    static let longestSilence = Duration.seconds(10)
    /// A line is due when another tenth is there, but not sooner than this after the last one.
    static let shortestSilence = Duration.seconds(2)

    private struct Mark: Sendable {
        var time: Duration
        var tenth: Int
    }

    private var files: [DownloadID: Mark] = [:]
    private var whole: Mark?

    package init() {}

    /// The lines that are due.
    ///
    /// - Parameters:
    ///   - running: The files that have an answer from their server and have not ended.
    ///   - elapsed: Time since the command began, monotonic.
    package mutating func lines(_ running: [DownloadStatus], whole: WholeProgress, elapsed: Duration) -> [String] {
        guard whole.fileCount <= Self.fewFiles else { return wholeLines(whole, elapsed: elapsed) }
        var lines: [String] = []
        for status in running {
            guard let mark = files[status.id] else {
                files[status.id] = Mark(time: elapsed, tenth: Self.tenth(status.progress.fraction))
                lines.append(Self.first(status))
                continue
            }
            let tenth = Self.tenth(status.progress.fraction)
            guard Self.isDue(mark, tenth: tenth, elapsed: elapsed) else { continue }
            files[status.id] = Mark(time: elapsed, tenth: tenth)
            lines.append(Self.line(status))
        }
        return lines
    }

    /// The file has ended: nothing more is due for it.
    package mutating func ended(_ id: DownloadID) { files[id] = nil }

    private mutating func wholeLines(_ now: WholeProgress, elapsed: Duration) -> [String] {
        let tenth = Self.tenth(now.fraction)
        if let mark = whole, !Self.isDue(mark, tenth: tenth, elapsed: elapsed) { return [] }
        // Nothing is worth a line before anything moved.
        if whole == nil, now.endedCount == 0, now.completedBytes == 0 { return [] }
        whole = Mark(time: elapsed, tenth: tenth)
        return ["\(now.label), \(ByteText.size(now.completedBytes)), \(ByteText.rate(now.bytesPerSecond))"]
    }

    private static func isDue(_ mark: Mark, tenth: Int, elapsed: Duration) -> Bool {
        let silence = elapsed - mark.time
        return silence >= longestSilence || (tenth > mark.tenth && silence >= shortestSilence)
    }

    private static func tenth(_ fraction: Double?) -> Int {
        guard let fraction, fraction.isFinite else { return 0 }
        return Int(min(1, max(0, fraction)) * 10)
    }

    private static func first(_ status: DownloadStatus) -> String {
        PrintableText.escape("\(status.name): \(status.progress.totalBytes.map(ByteText.size) ?? "size unknown")")
    }

    private static func line(_ status: DownloadStatus) -> String {
        let progress = status.progress
        var text = "\(status.name): \(ByteText.percent(progress.fraction, isComplete: false)), "
        text += ByteText.progress(completed: progress.completedBytes, total: progress.totalBytes)
        switch status.state {
        case .downloading:
            text += ", \(ByteText.rate(progress.bytesPerSecond))"
            if progress.timeRemaining != nil { text += ", \(ByteText.duration(progress.timeRemaining)) left" }
            text += ", \(progress.connections) connection\(progress.connections == 1 ? "" : "s")"
        case .verifying: text += ", verifying"
        case .waiting: text += ", waiting"
        case .paused: text += ", paused"
        case .failed, .completed, .cancelled: break
        }
        return PrintableText.escape(text)
    }
}
