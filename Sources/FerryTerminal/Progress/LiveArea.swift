/// The lines at the bottom of a terminal that are drawn again in place: what to write, never writing itself.
///
/// Invariant: while lines are drawn, the cursor stands at the end of the last one.
package struct LiveArea: Sendable, Hashable {
    /// The columns of each line that is on the screen.
    private var drawn: [Int] = []

    package init() {}

    package var isEmpty: Bool { drawn.isEmpty }

    /// What replaces the lines on the screen by these.
    ///
    /// - Parameter width: The columns of the terminal now; lines drawn when it was wider have been wrapped by it.
    package mutating func redraw(_ lines: [String], width: Int) -> String {
        var out = home(width: width)
        for (index, line) in lines.enumerated() {
            if index > 0 { out += "\r\n" }
            out += line + "\u{1B}[K"
        }
        // Below the new lines there may be more old ones.
        if !drawn.isEmpty { out += "\u{1B}[J" }
        drawn = lines.map { Self.columns($0) }
        return out
    }

    /// What takes the lines off the screen, leaving the cursor where the first one began.
    package mutating func clear(width: Int) -> String {
        guard !drawn.isEmpty else { return "" }
        let out = home(width: width) + "\u{1B}[J"
        drawn = []
        return out
    }

    /// The lines are not where they were (the program was stopped and continued): leave them.
    package mutating func forget() { drawn = [] }

    private func home(width: Int) -> String {
        let width = max(1, width)
        let rows = drawn.reduce(0) { $0 + max(1, ($1 + width - 1) / width) }
        return rows > 1 ? "\r\u{1B}[\(rows - 1)A" : "\r"
    }

    /// The columns of a line with colours in it.
    static func columns(_ line: String) -> Int {
        var columns = 0
        var isEscape = false
        for scalar in line.unicodeScalars {
            if isEscape {
                if scalar.properties.isAlphabetic { isEscape = false }
            } else if scalar == "\u{1B}" {
                isEscape = true
            } else {
                columns += DisplayWidth.columns(of: scalar)
            }
        }
        return columns
    }
}
