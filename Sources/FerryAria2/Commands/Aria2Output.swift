import Ferry
import FerryCore
import FerryTerminal

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The output settings of aria2c.
struct Aria2Output: Sendable, Hashable {
    enum Level: String, Sendable, Hashable, CaseIterable { case debug, info, notice, warn, error }
    enum Results: String, Sendable, Hashable { case `default`, full, hide }

    var level = Level.notice
    var results = Results.default
    /// The time between two summaries; `nil` for none.
    var summaryInterval: Duration? = .seconds(60)
    var showsReadout = true
    var isHumanReadable = true
    var isQuiet = false
    /// Whether everything goes to standard error instead of standard output.
    var usesStandardError = false

    init() {}

    init(_ values: Aria2Values) throws(Aria2Failure) {
        if let text = values["console-log-level"] {
            guard let level = Level(rawValue: text) else { throw .option("console-log-level is no level: \(text)") }
            self.level = level
        }
        if let text = values["download-result"] {
            guard let results = Results(rawValue: text) else {
                throw .option("download-result is none of default, full, hide: \(text)")
            }
            self.results = results
        }
        if let seconds = try values.number("summary-interval") {
            summaryInterval = seconds > 0 ? .seconds(seconds) : nil
        }
        showsReadout = values.flag("show-console-readout", default: true)
        isHumanReadable = values.flag("human-readable", default: true)
        isQuiet = values.flag("quiet")
        usesStandardError = values.flag("stderr")
    }

    func shows(_ level: Level) -> Bool {
        guard let own = Level.allCases.firstIndex(of: self.level), let other = Level.allCases.firstIndex(of: level)
        else { return false }
        return other >= own && !isQuiet
    }

    // MARK: Texts

    /// Returns `48Ki`, `1.2Mi`, `286Mi`, or only the number if `isHumanReadable` is false.
    func size(_ count: ByteCount) -> String {
        guard isHumanReadable else { return String(count) }
        let units = ["", "Ki", "Mi", "Gi"]
        var (whole, rest, unit) = (max(0, count), ByteCount(0), 0)
        while whole >= 1024, unit + 1 < units.count { (whole, rest, unit) = (whole / 1024, whole % 1024, unit + 1) }
        // Sizes from 0.9 of a unit are shown in that unit.
        if whole >= 922, unit + 1 < units.count { (whole, rest, unit) = (0, whole, unit + 1) }
        let fraction = whole < 10 && unit > 0 ? ".\(rest * 10 / 1024)" : ""
        return "\(whole)\(fraction)\(units[unit])"
    }

    /// Returns a duration in the form `1h2m3s`.
    static func duration(_ seconds: Int64) -> String {
        let (hours, minutes) = (seconds / 3600, seconds % 3600 / 60)
        return (hours > 0 ? "\(hours)h" : "") + (minutes > 0 ? "\(minutes)m" : "") + "\(seconds % 60)s"
    }

    /// Returns `[#2089b0 400KiB/33MiB(1%) CN:1 DL:115KiB ETA:4m51s]`.
    func readout(_ status: DownloadStatus) -> String {
        let progress = status.progress
        var text = "[#\(Self.short(status.id)) \(share(progress)) CN:\(progress.connections)"
        if status.state == .verifying { return text + "] [Checksum:#\(Self.short(status.id)) \(share(progress))]" }
        let speed = progress.bytesPerSecond.isFinite ? ByteCount(min(1e15, max(0, progress.bytesPerSecond))) : 0
        text += " DL:\(size(speed))B"
        if let total = progress.totalBytes, speed > 0, total > progress.completedBytes {
            let left = (total - progress.completedBytes) / speed
            if left > 0 { text += " ETA:\(Self.duration(left))" }
        }
        return text + "]"
    }

    /// Returns the line for several downloads: `[DL:1.2MiB][#2089b0 400KiB/33MiB(1%)][#…](+2)`.
    func readout(_ running: [DownloadStatus], bytesPerSecond: Double) -> String {
        let speed = bytesPerSecond.isFinite ? ByteCount(min(1e15, max(0, bytesPerSecond))) : 0
        var text = "[DL:\(size(speed))B]"
        for status in running.prefix(5) { text += "[#\(Self.short(status.id)) \(share(status.progress))]" }
        return running.count > 5 ? text + "(+\(running.count - 5))" : text
    }

    private func share(_ progress: DownloadProgress) -> String {
        let total = progress.totalBytes ?? 0
        let text = "\(size(progress.completedBytes))B/\(size(total))B"
        guard total > 0 else { return text }
        return text + "(\(min(100, Int64(Double(progress.completedBytes) / Double(total) * 100)))%)"
    }

    /// The first six digits of an identifier.
    static func short(_ id: DownloadID) -> String { String(id.rawValue.prefix(6)) }

    /// Returns a time in the form `11/23 01:27:01`.
    static func time(_ date: Date, in zone: LocalZone = .current) -> String {
        let text = LocalTime(date, in: zone).text
        return text.dropFirst(5).map { $0 == "-" ? "/" : String($0) }.joined()
    }

    /// Returns a time in the form `Mon Nov 23 01:27:01 2026`, as asctime(3) does.
    static func asctime(_ date: Date, in zone: LocalZone = .current) -> String {
        let time = LocalTime(date, in: zone)
        // 1970-01-01 was a Thursday.
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let day = DisplayWidth.padLeft(String(time.day.day), to: 2)
        let weekday = days[(time.day.dayNumber % 7 + 7) % 7]
        return "\(weekday) \(months[time.day.month - 1]) \(day) \(time.clock) \(time.day.year)"
    }
}

/// One line of the table of results.
struct Aria2Result: Sendable, Hashable {
    enum State: String, Sendable, Hashable {
        case done = "OK"
        case failed = "ERR"
        case unfinished = "INPR"

        var meaning: String {
            switch self {
            case .done: "(OK):download completed."
            case .failed: "(ERR):error occurred."
            case .unfinished: "(INPR):download in-progress."
            }
        }
    }

    var id: DownloadID
    var state: State
    /// The average speed in bytes per second; `nil` if nothing was received.
    var bytesPerSecond: Double?
    var percent: Int?
    /// The path, or the URI if no path is known.
    var place: String

    /// Returns the table and its legend, as aria2 prints them.
    static func table(_ results: [Aria2Result], _ output: Aria2Output) -> String {
        let isFull = output.results == .full
        var text = "\nDownload Results:\n"
        text += isFull ? "gid   |stat|avg speed  |  %|path/URI\n" : "gid   |stat|avg speed  |path/URI\n"
        text += "======+====+===========+" + (isFull ? "===+" : "")
        text += String(repeating: "=", count: isFull ? 51 : 55) + "\n"
        for result in results {
            let state = DisplayWidth.pad(result.state.rawValue, to: 4)
            let speed = result.bytesPerSecond.map { output.size(ByteCount(min(1e15, max(0, $0)))) + "B/s" } ?? "n/a"
            text += "\(Aria2Output.short(result.id))|\(state)|\(DisplayWidth.padLeft(speed, to: 11))|"
            if isFull { text += DisplayWidth.padLeft(result.percent.map { "\($0)" } ?? "-", to: 3) + "|" }
            text += PrintableText.escape(result.place) + "\n"
        }
        let present = [State.done, .failed, .unfinished].filter { state in results.contains { $0.state == state } }
        if !present.isEmpty { text += "\nStatus Legend:\n" + present.map(\.meaning).joined() + "\n" }
        return text
    }
}
