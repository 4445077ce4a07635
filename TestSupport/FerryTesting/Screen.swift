/// A model of a terminal with the sequences that Ferry uses: the visible text after some bytes.
package struct Screen: Sendable {
    package let width: Int
    package let height: Int
    package private(set) var rows: [[Character]]
    private var row = 0
    private var column = 0
    /// Lines that have scrolled off the top.
    package private(set) var history: [String] = []
    private let columns: @Sendable (Unicode.Scalar) -> Int

    /// - Parameter columns: The number of columns that a character takes.
    package init(width: Int, height: Int, columns: @escaping @Sendable (Unicode.Scalar) -> Int) {
        self.width = width
        self.height = height
        self.columns = columns
        rows = [[]]
    }

    /// The lines with something on them, from the top.
    package var lines: [String] {
        (history + rows.map { String($0) }).map { String($0.reversed().drop { $0 == " " }.reversed()) }
    }

    package mutating func write(_ text: String) {
        var scalars = Array(text.unicodeScalars)[...]
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "\r": column = 0
            case "\n":
                column = 0
                newLine()
            case "\u{1B}": escape(&scalars)
            default: put(scalar)
            }
        }
    }

    private mutating func escape(_ scalars: inout ArraySlice<Unicode.Scalar>) {
        guard scalars.popFirst() == "[" else { return }
        var argument = ""
        while let scalar = scalars.popFirst() {
            if scalar.properties.isAlphabetic {
                apply(scalar, Int(argument) ?? 1)
                return
            }
            argument.unicodeScalars.append(scalar)
        }
    }

    private mutating func apply(_ command: Unicode.Scalar, _ count: Int) {
        switch command {
        case "A": row = max(0, row - count)
        case "K": rows[row] = Array(rows[row].prefix(column))
        case "J":
            rows[row] = Array(rows[row].prefix(column))
            rows.removeLast(rows.count - row - 1)
        default: break
        }
    }

    private mutating func newLine() {
        row += 1
        if row == rows.count { rows.append([]) }
        if rows.count > height {
            history.append(String(rows.removeFirst()))
            row -= 1
        }
    }

    /// A character of two columns is followed by a filler, so that the index is the column.
    private mutating func put(_ scalar: Unicode.Scalar) {
        let columns = columns(scalar)
        guard columns > 0 else { return }
        if column + columns > width {
            column = 0
            newLine()
        }
        while rows[row].count < column + columns { rows[row].append(" ") }
        rows[row][column] = Character(scalar)
        if columns == 2 { rows[row][column + 1] = Self.filler }
        column += columns
    }

    package static let filler: Character = "\u{E000}"
}
