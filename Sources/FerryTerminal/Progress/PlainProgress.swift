package import Ferry
import FerryCore

/// Decides when a progress line is due without a terminal. Pure.
///
/// Up to ``fewFiles`` files have lines of their own; beyond that there is only a total line, which keeps the output
/// of long lists short.
package struct PlainProgress: Sendable {
    /// The maximum number of files that are reported individually.
    package static let fewFiles = 8
    /// The interval after which a line is always due.
    static let maxSilence = Duration.seconds(10)
    /// The minimum interval between lines, which are due when another tenth is complete.
    static let minSilence = Duration.seconds(2)

    private struct Mark: Sendable {
        var time: Duration
        var tenth: Int
    }

    private var files: [DownloadID: Mark] = [:]
    private var whole: Mark?

    package init() {}

    /// Returns the lines that are due.
    ///
    /// - Parameters:
    ///   - running: The files whose server has responded and that have not ended.
    ///   - elapsed: The monotonic time since the start of the command.
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

    /// Stops reporting a file that has ended.
    package mutating func ended(_ id: DownloadID) { files[id] = nil }

    private mutating func wholeLines(_ now: WholeProgress, elapsed: Duration) -> [String] {
        let tenth = Self.tenth(now.fraction)
        if let mark = whole, !Self.isDue(mark, tenth: tenth, elapsed: elapsed) { return [] }
        // No line is due before any progress.
        if whole == nil, now.endedCount == 0, now.completedBytes == 0 { return [] }
        whole = Mark(time: elapsed, tenth: tenth)
        let (size, rate) = (ByteText.size(now.completedBytes), ByteText.rate(now.bytesPerSecond))
        return [[now.label, size, rate].joined(separator: Self.comma)]
    }

    private static func isDue(_ mark: Mark, tenth: Int, elapsed: Duration) -> Bool {
        let silence = elapsed - mark.time
        return silence >= maxSilence || (tenth > mark.tenth && silence >= minSilence)
    }

    static var comma: String { Language.current.text(of: (", ", "，")) }

    private static func tenth(_ fraction: Double?) -> Int {
        guard let fraction, fraction.isFinite else { return 0 }
        return Int(min(1, max(0, fraction)) * 10)
    }

    private static func first(_ status: DownloadStatus) -> String {
        let size = status.progress.totalBytes.map { Reason.words(ByteText.size($0)) } ?? "size unknown"
        return ("\(status.name): \(size)" as Reason).shown
    }

    private static func line(_ status: DownloadStatus) -> String {
        let progress = status.progress
        var facts: [Reason] = [
            .words(ByteText.progress(completed: progress.completedBytes, total: progress.totalBytes))
        ]
        if let fraction = progress.fraction {
            facts.insert(.words(ByteText.percent(fraction, isComplete: false)), at: 0)
        }
        switch status.state {
        case .downloading:
            facts.append(.words(ByteText.rate(progress.bytesPerSecond)))
            if progress.timeRemaining != nil { facts.append("\(ByteText.duration(progress.timeRemaining)) left") }
            facts.append(progress.connections == 1 ? "1 connection" : "\(progress.connections) connections")
        case .verifying: facts.append("verifying")
        case .waiting: facts.append("waiting")
        case .paused: facts.append("paused")
        case .failed, .completed, .cancelled: break
        }
        return ("\(status.name): \(facts.map(\.local).joined(separator: comma))" as Reason).shown
    }
}
