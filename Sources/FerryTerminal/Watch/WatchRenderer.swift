import Ferry
import FerryAPI
import FerryCore

#if canImport(FoundationEssentials)
    package import struct FoundationEssentials.Date
#else
    package import struct Foundation.Date
#endif

/// Draws `ferry watch`: a line for each unfinished download, the counts, and the keys.
///
/// No line is wider than `width - 1` columns, and there are at most `height - 1` lines. With more downloads, those
/// around the selection are shown.
package struct WatchRenderer: Sendable {
    package var width: Int
    package var height: Int
    package var usesColor: Bool

    package init(width: Int, height: Int, usesColor: Bool) {
        self.width = max(8, width)
        self.height = max(3, height)
        self.usesColor = usesColor
    }

    /// - Parameter hasKeys: Whether keys are read, so that a line of help for them is shown.
    package func lines(_ board: WatchBoard, now: Date, hasKeys: Bool) -> [String] {
        let bars = BarRenderer(width: width - 2, height: height, usesColor: usesColor)
        let all = board.rows
        // In a small terminal, downloads take precedence over the lines below them.
        let hasHelp = hasKeys && height > 3
        let room = max(1, height - 2 - (hasHelp ? 1 : 0))
        let chosen = board.selected
        let selected = chosen.flatMap { all.firstIndex(of: $0) } ?? 0
        let first = max(0, min(selected - room / 2, all.count - room))
        let shown = all[first..<min(all.count, first + room)].compactMap { board.download($0) }
        let rows = shown.map { one in
            var row = bars.row(one.status, now: now)
            if let reason = reason(one, now: now) { (row.remark, row.needsRoom) = (reason, true) }
            if case .waiting = one.status.state, row.remark == ("waiting" as Reason).local {
                row.remark = DownloadTable.state(one)
            }
            row.state = DownloadTable.state(one)
            return row
        }
        let layout = BarLayout(rows: rows, columns: width - 3)
        var lines = zip(shown, rows).map { one, row in
            (hasKeys && one.id == chosen ? "> " : "  ") + bars.line(row, layout)
        }
        lines.append(summary(board, columns: width - 1))
        if hasHelp { lines.append(help(board, columns: width - 1)) }
        return lines
    }

    /// Returns the reason why the download does not run; `nil` if the row's other texts are enough. The next attempt or the
    /// user's remedy comes first, because the end of a long sentence is cut off.
    private func reason(_ one: ListedDownload, now: Date) -> String? {
        switch one.status.state {
        case .failed(let error):
            let cause = Reason.words(error.message(in: .current))
            return one.status.retryAt.map { next($0, after: cause, now: now) } ?? cause.shown
        case .waiting(.retry(let date)), .waiting(.server(_, until: let date?)):
            return (one.status.waitError?.reason).map { next(date, after: $0, now: now) }
        case .waiting(.server): return one.status.waitError?.reason.shown
        case .waiting(.freshLink), .waiting(.credentials):
            let parts = [DownloadTable.remedy(one), one.status.waitError?.reason].compactMap { $0?.shown }
            return parts.isEmpty ? nil : parts.joined(separator: ErrorText.separator)
        case .waiting(.notBefore): return one.status.waitSentence { LocalTime.text($0) }?.shown
        case .downloading: return DownloadTable.wait(one)?.shown
        default: return nil
        }
    }

    private func next(_ date: Date, after cause: Reason, now: Date) -> String {
        let next: Reason = "next attempt in \(ByteText.briefly(BarRenderer.delay(until: date, from: now)))"
        return ("\(next): \(cause)" as Reason).shown
    }

    /// Returns the counts, speed and limit. Omits whole parts until the rest fits.
    private func summary(_ board: WatchBoard, columns: Int) -> String {
        if board.isLost {
            return DisplayWidth.begin(("the daemon does not answer; trying again" as Reason).local, to: columns)
        }
        var (counts, rest) = (board.counts, [String]())
        let limit: String? = board.limit.map { ("limit \(ByteText.size($0))/s" as Reason).local }
        if board.isSearching { rest.append("/" + PrintableText.escape(board.search)) }
        if !board.network.isOnline {
            rest.append(("offline" as Reason).local)
        } else if board.network.isMetered {
            rest.append(("metered network" as Reason).local)
        }
        var figures = [ByteText.rate(board.speed), limit].compactMap(\.self)
        var comma = PlainProgress.comma
        func line() -> String { ([counts.joined(separator: comma)] + figures + rest).joined(separator: "  ") }
        func isTooLong() -> Bool { DisplayWidth.columns(of: line()) > columns }
        if isTooLong(), board.speed == 0 { figures.removeFirst() }
        for _ in 0..<board.endedCounts where isTooLong() && counts.count > 1 { counts.removeLast() }
        while isTooLong(), !figures.isEmpty { figures.removeLast() }
        if isTooLong() { comma = " " }
        while isTooLong(), counts.count > 1 { counts.removeLast() }
        return DisplayWidth.begin(line(), to: columns)
    }

    private func help(_ board: WatchBoard, columns: Int) -> String {
        if let question = board.question, let name = board.download(question.id)?.status.name {
            let text: Reason =
                question.key == .cancel
                ? "press c again to cancel \(name) and delete its partial data"
                : "press d again to remove \(name) from the list and delete its partial data"
            return DisplayWidth.fit(text.shown, to: columns)
        }
        let keys: Reason =
            board.search.isEmpty
            ? "up/down select  p pause  r resume  c cancel  d remove  / search  +/- limit  q quit"
            : "up/down select  p pause  r resume  c cancel  d remove  / Esc show all  +/- limit  q quit"
        let words = keys.local.replacing("  ", by: "\n").split(at: "\n").map { String($0) }
        var shown = Array(words.enumerated())
        // Omits whole keys: a part of one could be read as another word.
        for leaving in [0, 6, 5, 4, 3, 2, 1] {
            if DisplayWidth.columns(of: Self.joined(shown)) <= columns { break }
            shown.removeAll { $0.offset == leaving }
        }
        return DisplayWidth.fit(Self.joined(shown), to: columns)
    }

    private static func joined(_ keys: [(offset: Int, element: String)]) -> String {
        keys.map(\.element).joined(separator: "  ")
    }
}
