/// The lines at the bottom of a terminal that are redrawn in place. Returns control sequences and writes nothing
/// itself.
///
/// Invariant: while lines are drawn, the cursor is at the end of the last one.
package struct LiveArea: Sendable, Hashable {
    /// The width in columns of each line on the screen.
    private var drawn: [Int] = []

    package init() {}

    package var isEmpty: Bool { drawn.isEmpty }

    /// Returns the output that replaces the drawn lines with these.
    ///
    /// - Parameter width: The current width of the terminal. Lines drawn at a larger width have been wrapped.
    package mutating func redraw(_ lines: [String], width: Int) -> String {
        var out = home(width: width)
        for (index, line) in lines.enumerated() {
            if index > 0 { out += "\r\n" }
            out += line + "\u{1B}[K"
        }
        // Erases remaining lines below the new ones.
        if !drawn.isEmpty { out += "\u{1B}[J" }
        drawn = lines.map { Self.columns($0) }
        return out
    }

    /// Returns the output that erases the lines and leaves the cursor at the start of the first.
    package mutating func clear(width: Int) -> String {
        guard !drawn.isEmpty else { return "" }
        let out = home(width: width) + "\u{1B}[J"
        drawn = []
        return out
    }

    /// Forgets the drawn lines, as their position is unknown after the program was stopped and continued.
    package mutating func forget() { drawn = [] }

    private func home(width: Int) -> String {
        let width = max(1, width)
        let rows = drawn.reduce(0) { $0 + max(1, ($1 + width - 1) / width) }
        return rows > 1 ? "\r\u{1B}[\(rows - 1)A" : "\r"
    }

    /// Returns the width of a line, ignoring escape sequences.
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
