import Ferry
package import FerryCore

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// Determines which waits for servers to report, so that each is reported once. Pure.
///
/// A wait is reported when its files have not changed since the last reading, so that files that were submitted together are
/// in one line. It is reported again if the server requests another delay when this one has passed.
package struct ServerWaits: Sendable {
    /// The files that wait for one reason.
    package struct News: Sendable, Hashable {
        package var sentence: Reason
        package var files: [DownloadStatus]

        /// The names of the files, or their number, and the reason.
        package var line: String {
            let who: Reason =
                files.count > PlainProgress.fewFiles
                ? "\(files.count) files" : .words(files.map(\.name).joined(separator: PlainProgress.comma))
            let text: Reason = "waiting: \(sentence)"
            return ("\(who): \(text)" as Reason).shown
        }

        /// An event for each file.
        package func events(at date: Date) -> [DownloadEvent] {
            files.compactMap { file in
                guard case .waiting(let wait) = file.state, let error = file.waitError else { return nil }
                return DownloadEvent(id: file.id, date: date, .waiting(wait, message: error.reason))
            }
        }
    }

    /// The files of each cause at the last reading.
    private var files: [String: [DownloadID]] = [:]
    /// The causes that were reported, with the announced ends of the waits.
    private var told: [String: Date] = [:]

    package init() {}

    /// Returns the waits to report.
    ///
    /// - Parameter open: The statuses of all files that have not ended.
    package mutating func take(_ open: [DownloadStatus], at date: Date) -> [News] {
        var causes: [String] = []
        var waiting: [String: [DownloadStatus]] = [:]
        for status in open {
            guard case .waiting(.server) = status.state, let cause = status.waitError?.message else { continue }
            if waiting[cause] == nil { causes.append(cause) }
            waiting[cause, default: []].append(status)
        }
        let last = files
        files = waiting.mapValues { $0.map(\.id) }
        told = told.filter { waiting[$0.key] != nil }
        return causes.compactMap { cause in
            guard let statuses = waiting[cause], files[cause] == last[cause],
                let first = statuses.first(where: \.waitsForServer),
                case .waiting(.server(let since, let until?)) = first.state,
                // For a server that is down, each new attempt is reported by itself.
                told[cause].map({ since == nil && $0 <= date && $0 < until }) ?? true,
                let sentence = first.waitSentence({ LocalTime.text($0) })
            else { return nil }
            told[cause] = until
            return News(sentence: sentence, files: statuses)
        }
    }
}

extension DownloadStatus {
    /// Whether the download waits for its server until a known time.
    var waitsForServer: Bool { if case .waiting(.server(_, _?)) = state { true } else { false } }
}
