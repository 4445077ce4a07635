package import FerryAPI
import FerryCore

/// Downloads as a table: values in, lines out.
///
/// Where a line has no room for everything, the columns go in the order time left, speed, size, session; the name is cut
/// in its middle. Without a width nothing is cut.
package struct DownloadTable: Sendable {
    /// The columns of the terminal; `nil` where there is none.
    package var width: Int?
    /// There is a column for the session of each.
    package var showsSessions: Bool

    package init(width: Int?, showsSessions: Bool = false) {
        self.width = width
        self.showsSessions = showsSessions
    }

    private struct Column {
        var title: String
        var isRight = false
        /// The order in which columns go when there is no room; `nil` for those that stay.
        var leaves: Int?
        var text: (ListedDownload) -> String
    }

    /// The title and a line for each; empty for none.
    ///
    /// - Parameter identifiers: How much of each identifier tells it from the others.
    package func lines(_ downloads: [ListedDownload], identifiers: ShortIdentifiers) -> [String] {
        guard !downloads.isEmpty else { return [] }
        var columns = Self.columns(identifiers, showsSessions: showsSessions)
        func widths() -> [Int] {
            columns.map { column in
                max(column.title.count, downloads.map { DisplayWidth.columns(of: column.text($0)) }.max() ?? 0)
            }
        }
        var taken = widths()
        let leastName = 12
        if let width {
            while taken.dropLast().reduce(0, { $0 + $1 + 2 }) + min(leastName, taken.last ?? 0) > width,
                let leaving = columns.indices.filter({ columns[$0].leaves != nil }).min(by: {
                    columns[$0].leaves ?? 0 < columns[$1].leaves ?? 0
                })
            {
                columns.remove(at: leaving)
                taken.remove(at: leaving)
            }
        }
        let before = taken.dropLast().reduce(0) { $0 + $1 + 2 }
        let room = width.map { max(4, $0 - before) }
        func line(_ texts: [String]) -> String {
            var line = ""
            for index in columns.indices.dropLast() {
                let text = texts[index]
                line +=
                    (columns[index].isRight
                        ? DisplayWidth.padLeft(text, to: taken[index]) : DisplayWidth.pad(text, to: taken[index]))
                    + "  "
            }
            let name = texts.last ?? ""
            return line + (room.map { DisplayWidth.fit(name, to: $0) } ?? name)
        }
        return [line(columns.map(\.title))] + downloads.map { download in line(columns.map { $0.text(download) }) }
    }

    private static func columns(_ identifiers: ShortIdentifiers, showsSessions: Bool) -> [Column] {
        var columns: [Column] = [
            Column(title: "ID") { PrintableText.escape(identifiers.short($0.id.rawValue)) },
            Column(title: "STATE") { state($0) },
            Column(title: "DONE", isRight: true) {
                let progress = $0.status.progress
                let isComplete = if case .completed = $0.status.state { true } else { false }
                return ByteText.percent(progress.fraction, isComplete: isComplete)
            },
            Column(title: "SIZE", isRight: true, leaves: 2) { $0.status.progress.totalBytes.map(ByteText.size) ?? "?" },
            Column(title: "SPEED", isRight: true, leaves: 1) {
                $0.status.state == .downloading ? ByteText.rate($0.status.progress.bytesPerSecond) : "-"
            },
            Column(title: "LEFT", isRight: true, leaves: 0) {
                $0.status.state == .downloading ? ByteText.duration($0.status.progress.timeRemaining) : "-"
            },
            Column(title: "NAME") { PrintableText.escape($0.status.name) },
        ]
        if showsSessions {
            let session = Column(title: "SESSION", leaves: 3) { PrintableText.escape($0.session) }
            columns.insert(session, at: columns.count - 1)
        }
        return columns
    }

    /// One word for the state, two where it waits, or was paused by nobody.
    static func state(_ download: ListedDownload) -> String {
        switch download.status.pauseReason {
        case .crashes?: "paused: crashes"
        case nil: state(download.status.state)
        }
    }

    static func state(_ state: DownloadState) -> String {
        let body = StateBody(state)
        guard let reason = body.waitReason else { return body.state }
        let words = [
            "slot": "turn", "network": "network", "retry": "retry", "diskSpace": "disk space", "freshLink": "new link",
            "credentials": "login", "notBefore": "its time",
        ]
        return "waiting: " + (words[reason] ?? reason)
    }
}
