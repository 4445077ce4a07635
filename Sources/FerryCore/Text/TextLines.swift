/// The numbered lines of a text file, without the byte order mark and line ends (LF or CRLF).
struct TextLines {
    struct Line {
        /// Counted from 1.
        let number: Int
        let text: Substring
    }

    let lines: [Line]

    init(_ text: String) {
        var utf8 = text.utf8[...]
        if utf8.starts(with: [0xEF, 0xBB, 0xBF]) { utf8 = utf8.dropFirst(3) }
        var lines: [Line] = []
        for (index, line) in utf8.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            let bare = line.last == 0x0D ? line.dropLast() : line
            lines.append(Line(number: index + 1, text: Substring(bare)))
        }
        self.lines = lines
    }
}
