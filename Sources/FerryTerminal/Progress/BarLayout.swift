/// The column widths of a frame, shared by all its lines; 0 omits a part.
struct BarLayout: Sendable, Hashable {
    var name: Int
    var bar = 0
    var percent = 6
    var size: Int
    var speed = 10
    var timeLeft = 7
    var connections = 3

    /// The columns to the right of the size, including gaps.
    var afterSize: Int { [speed, timeLeft, connections].map(Self.withGap).reduce(0, +) }

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

    private var fixed: Int { name + [bar, percent, size, speed, timeLeft, connections].map(Self.withGap).reduce(0, +) }

    private static func withGap(_ columns: Int) -> Int { columns == 0 ? 0 : columns + 2 }

    private static let shortestBar = 8
    private static let longestBar = 40
    private static let longestName = 60
}
