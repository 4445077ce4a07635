import FerryCore
import Logging

/// A line of the library's log, in two parts: a description of what happened, with identifiers that the app has set, and
/// details, which may contain addresses, paths and file names.
package struct LogEntry: Sendable, Hashable {
    package enum Level: Sendable, Hashable { case debug, info, notice, error }

    let level: Level
    /// Contains no address, path or file name.
    let text: String
    let details: String?

    package init(_ level: Level, _ text: String, details: String? = nil) {
        self.level = level
        self.text = text
        self.details = details
    }

    /// The entry for an event of a download.
    init(_ event: DownloadEvent) {
        let (level, word, details): (Level, String, String?) =
            switch event.kind {
            case .added(let url): (.info, "added", (try? DownloadURL(url).redacted) ?? "…")
            case .started(let name, let bytes): (.info, "started" + Self.size(bytes), name)
            case .resumed(let offset, let bytes, let reason):
                (.info, "resumed at byte \(offset)" + Self.size(bytes), reason)
            case .retrying(let attempt, let delay, let reason):
                (.notice, "attempt \(attempt) follows in \(delay)", reason)
            case .restarted(let reason): (.notice, "begins anew", reason)
            case .waiting(let why, let message): (.notice, "waits: " + StateKind(.waiting(why)).rawValue, message)
            case .note(let text): (.debug, "note", text)
            case .paused: (.info, "paused", nil)
            case .completed(let file): (.info, "completed" + Self.size(file.totalBytes), file.path)
            case .failed(let error): (.error, "failed: " + error.code.rawValue, error.message)
            case .cancelled: (.info, "cancelled", nil)
            }
        self.init(level, "download \(event.id.rawValue): \(word)", details: details)
    }

    private static func size(_ bytes: ByteCount?) -> String { bytes.map { ", \($0) bytes" } ?? "" }
}

extension LogEntry: CustomStringConvertible {
    package var description: String { details.map { text + ": " + $0 } ?? text }
}

extension DownloadManager.Configuration {
    /// Writes a fault to the logger that the app has set, otherwise to the system log, if there is one.
    package func log(_ entry: LogEntry) {
        guard let logger else {
            SystemLog.write?(entry)
            return
        }
        let level: Logger.Level =
            switch entry.level {
            case .debug: .debug
            case .info: .info
            case .notice: .warning
            case .error: .error
            }
        logger.log(level: level, "\(entry)")
    }
}
