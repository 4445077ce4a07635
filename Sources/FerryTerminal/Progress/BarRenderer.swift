import Ferry
import FerryCore

#if canImport(FoundationEssentials)
    import struct FoundationEssentials.Date
#else
    import struct Foundation.Date
#endif

/// Draws progress bars: one line per running file and one for the total. Pure.
///
/// No line is wider than `width - 1` columns, because the last column would wrap on some terminals, and there are at most
/// `height - 1` lines. If space is short, parts are omitted in the order connections, bar, time left, speed, size;
/// name and percentage remain.
package struct BarRenderer: Sendable {
    /// The width of the terminal, in columns.
    package var width: Int
    /// The height of the terminal, in lines.
    package var height: Int
    package var usesColor: Bool

    package init(width: Int, height: Int, usesColor: Bool) {
        self.width = max(2, width)
        self.height = max(2, height)
        self.usesColor = usesColor
    }

    /// Returns the lines of a frame, from top to bottom. A single file has no total line.
    package func lines(_ board: BarBoard) -> [String] {
        let hasWhole = board.whole.fileCount > 1
        let room = max(1, height - 1 - (hasWhole ? 1 : 0))
        let fits = board.running.count <= room
        let visible = board.running.prefix(fits ? room : max(0, room - 1))
        var rows = visible.map { row($0, now: board.now) }
        if hasWhole { rows.append(row(board.whole)) }
        let layout = BarLayout(rows: rows, columns: width - 1)
        var lines = rows.map { line($0, layout) }
        if !fits {
            let more = DisplayWidth.fit(
                ("... and \(board.running.count - visible.count) more" as Reason).local, to: width - 1)
            lines.insert(more, at: visible.count)
        }
        return Array(lines.suffix(height - 1))
    }

    /// Returns the texts of a download's line.
    func row(_ status: DownloadStatus, now: Date) -> BarRow {
        let progress = status.progress
        var row = BarRow(
            name: PrintableText.escape(status.name), fraction: progress.fraction,
            isComplete: progress.totalBytes.map { progress.completedBytes >= $0 } ?? false,
            size: ByteText.progress(completed: progress.completedBytes, total: progress.totalBytes),
            speed: ByteText.rate(progress.bytesPerSecond), timeLeft: ByteText.duration(progress.timeRemaining),
            connections: "\(progress.connections)x")
        let remark: Reason? =
            switch status.state {
            case .verifying: "verifying"
            case .paused: "paused"
            case .waiting(.retry(let date)), .waiting(.server(_, let date?)):
                "next attempt in \(ByteText.briefly(Self.delay(until: date, from: now)))"
            case .waiting(.network): "waiting for the network"
            case .waiting(.diskSpace): "waiting for disk space"
            case .waiting: "waiting"
            case .downloading, .failed, .completed, .cancelled: nil
            }
        row.remark = remark?.local
        return row
    }

    static func delay(until date: Date, from now: Date) -> Duration {
        let seconds = date.timeIntervalSince(now)
        return .seconds(seconds.isFinite ? min(1e6, max(0, seconds)) : 0)
    }

    private func row(_ whole: WholeProgress) -> BarRow {
        BarRow(
            name: whole.label, fraction: whole.fraction, isComplete: whole.endedCount == whole.fileCount,
            hasTotal: whole.totalBytes != nil,
            size: ByteText.progress(completed: whole.completedBytes, total: whole.totalBytes),
            speed: ByteText.rate(whole.bytesPerSecond), timeLeft: ByteText.duration(whole.timeRemaining),
            connections: "\(whole.connections)x")
    }

    /// Returns the line for a row in this layout.
    func line(_ row: BarRow, _ layout: BarLayout) -> String {
        var line = DisplayWidth.pad(row.name, to: layout.name)
        // A remark takes precedence over the bar and the figures if there is no space for both.
        let place = row.remark.map { layout.place(of: $0, needsRoom: row.needsRoom, isEmpty: row.fraction ?? 0 == 0) }
        if layout.bar > 0, place?.hidesBar != true { line += "  " + bar(row.fraction, columns: layout.bar) }
        if layout.percent > 0, place?.hidesPercent != true {
            let text = ByteText.percent(row.hasTotal ? row.fraction : nil, isComplete: row.isComplete)
            line += "  " + DisplayWidth.padLeft(text, to: layout.percent)
        }
        if layout.size > 0, place?.hidesSize != true { line += "  " + DisplayWidth.padLeft(row.size, to: layout.size) }
        if let remark = row.remark, let columns = place?.columns, columns > 0 {
            let isCut = columns < BarLayout.sentence && DisplayWidth.columns(of: remark) > columns
            return line + "  " + colored(DisplayWidth.begin(isCut ? row.state ?? remark : remark, to: columns), "33")
        }
        if layout.speed > 0 { line += "  " + DisplayWidth.padLeft(row.speed, to: layout.speed) }
        if layout.timeLeft > 0 { line += "  " + DisplayWidth.padLeft(row.timeLeft, to: layout.timeLeft) }
        if layout.connections > 0 { line += "  " + DisplayWidth.padLeft(row.connections, to: layout.connections) }
        return line
    }

    /// Returns `[=====>    ]`, filled with dots if the fraction is unknown.
    private func bar(_ fraction: Double?, columns: Int) -> String {
        let inside = columns - 2
        guard let fraction, fraction.isFinite else { return "[" + String(repeating: ".", count: inside) + "]" }
        let filled = Int((Double(inside) * min(1, max(0, fraction))).rounded(.down))
        let head = filled == inside || filled == 0 ? "" : ">"
        let done = String(repeating: "=", count: filled - head.count) + head
        return "[" + colored(done, "32") + String(repeating: " ", count: inside - filled) + "]"
    }

    private func colored(_ text: String, _ code: String) -> String {
        usesColor && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

/// The column widths of a frame, shared by all its lines; 0 omits a part.
struct BarLayout: Sendable, Hashable {
    var name: Int
    var bar = 0
    var percent = 6
    var size: Int
    var speed = 10
    var timeLeft = 7
    var connections = 3

    /// Columns that are reserved for a remark if no other part leaves space for it.
    var remark = 0

    /// The minimum number of columns for a remark that is a sentence, and the number of columns for a word.
    static let sentence = 30
    private static let word = 12

    /// The position of a remark: its number of columns, 0 for none, and the parts that it replaces.
    struct Place {
        var columns: Int
        var hidesBar: Bool
        var hidesSize: Bool
        var hidesPercent: Bool
    }

    /// Returns the position of a remark in a file's row.
    ///
    /// - Parameter isEmpty: Whether no bytes of the file are on disk.
    func place(of text: String, needsRoom: Bool, isEmpty: Bool) -> Place {
        let length = DisplayWidth.columns(of: text)
        let wanted = min(length, Self.word)
        var room = [speed, timeLeft, connections, remark].map(Self.withGap).reduce(0, +)
        let hidesSize = needsRoom || room - 2 < wanted
        if hidesSize { room += Self.withGap(size) }
        let hidesBar = needsRoom && room - 2 < length
        if hidesBar { room += Self.withGap(bar) }
        let hidesPercent = room - 2 < wanted || hidesBar && isEmpty
        if hidesPercent { room += Self.withGap(percent) }
        return Place(columns: max(0, room - 2), hidesBar: hidesBar, hidesSize: hidesSize, hidesPercent: hidesPercent)
    }

    /// - Parameter columns: The maximum width of a line.
    init(rows: [BarRow], columns: Int) {
        func widest(_ text: (BarRow) -> String) -> Int { rows.map { DisplayWidth.columns(of: text($0)) }.max() ?? 0 }
        let longest = max(1, widest(\.name))
        name = min(longest, 12)
        // Fixed minimum widths, so that the columns do not move when a figure gains a digit.
        size = max(19, widest(\.size))
        speed = max(speed, widest(\.speed))
        timeLeft = max(timeLeft, widest(\.timeLeft))
        connections = max(connections, widest(\.connections))

        if fixed > columns { connections = 0 }
        if fixed > columns { timeLeft = 0 }
        if fixed > columns { speed = 0 }
        if fixed > columns { name = max(min(name, 8), name - (fixed - columns)) }
        if fixed > columns { size = 0 }
        if size == 0, columns >= 30 { remark = min(widest { $0.remark ?? "" }, Self.word) }
        if fixed > columns { name = max(4, name - (fixed - columns)) }
        if fixed > columns { percent = 0 }
        if fixed > columns { name = max(1, columns) }

        // Remaining columns go to a short bar, then to the name, then to a longer bar.
        var rest = columns - fixed
        if rest >= 2 + Self.shortestBar, connections > 0 {
            bar = Self.shortestBar
            rest -= 2 + Self.shortestBar
        }
        let more = min(rest, min(longest, Self.longestName) - name)
        if more > 0 {
            name += more
            rest -= more
        }
        if bar > 0 { bar += min(max(0, rest), Self.longestBar - bar) }
    }

    private var fixed: Int {
        name + [bar, percent, size, speed, timeLeft, connections, remark].map(Self.withGap).reduce(0, +)
    }

    private static func withGap(_ columns: Int) -> Int { columns == 0 ? 0 : columns + 2 }

    private static let shortestBar = 8
    private static let longestBar = 40
    private static let longestName = 60
}

/// The texts of one line of bars.
struct BarRow: Sendable, Hashable {
    /// Already escaped.
    var name: String
    var fraction: Double?
    var isComplete: Bool
    /// Whether the total number of bytes is known. If not, the fraction counts files, and only the bar shows it: beside
    /// the number of bytes, a percentage would seem to be that of the bytes.
    var hasTotal = true
    var size: String
    var speed: String
    var timeLeft: String
    var connections: String
    /// Text in place of speed, time left and connections while the file is not downloading.
    var remark: String?
    /// The word for the state, which replaces a remark that would be cut to a few words.
    var state: String?
    /// Whether the remark also replaces the size, which is less informative.
    var needsRoom = false
}
