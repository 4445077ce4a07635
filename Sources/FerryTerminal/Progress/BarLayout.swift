/// The columns of the parts of a frame, the same for all its lines; 0 leaves a part out.
struct BarLayout: Sendable, Hashable {
    var name: Int
    var bar = 0
    var percent = 6
    var size: Int
    var speed = 10
    var timeLeft = 7
    var connections = 3

    /// What the parts right of the size take, their gaps included.
    var afterSize: Int { [speed, timeLeft, connections].map(Self.withGap).reduce(0, +) }

    /// - Parameter columns: The most that a line may take.
    init(rows: [BarRow], columns: Int) {
        func widest(_ text: (BarRow) -> String) -> Int { rows.map { DisplayWidth.columns(of: text($0)) }.max() ?? 0 }
        let longest = max(1, widest(\.name))
        name = min(longest, 12)
        // Fixed lower bounds: the columns do not jump when a figure gets one digit more.
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

        // What is left goes to a short bar first, then to the name, then to a longer bar.
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
