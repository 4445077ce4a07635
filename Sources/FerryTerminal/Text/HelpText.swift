import FerryCore

/// The help of a command in Chinese, translated from the English help.
package struct HelpText: Sendable {
    /// The help, with line breaks.
    package private(set) var text = ""
    /// Texts without a translation, which remain English.
    package private(set) var untranslated: [String] = []
    private let chinese: [ChineseHelp]

    /// The column of explanations, in ArgumentParser's layout.
    private static let indent = 26

    /// Returns an explanation beside its label, or below a label that is too long, in lines of at most `columns` columns.
    static func row(_ label: String, _ explanation: String, columns: Int) -> String {
        let label = "  " + label
        let gap = indent - label.utf8.count
        let margin = String(repeating: " ", count: indent)
        return gap > 0
            ? broken(label + String(repeating: " ", count: gap) + explanation, hanging: indent, columns)
            : broken(label, hanging: 2, columns) + broken(margin + explanation, hanging: indent, columns)
    }

    /// Translates a help text.
    ///
    /// - Parameters:
    ///   - english: The help that ArgumentParser prints if it has enough columns to break no line.
    ///   - columns: The width of the lines.
    ///   - chinese: The texts of all commands.
    package init(_ english: String, columns: Int, chinese: [ChineseHelp]) {
        self.chinese = chinese
        // Examples and usages are commands, up to the next empty line.
        var isCommands = false
        for line in english.split(at: "\n", omittingEmptySubsequences: false) {
            let (title, rest) = Self.title(of: line)
            if let title {
                isCommands = title == "USAGE" || title == "EXAMPLES"
                let text = isCommands ? String(rest) : translate(rest)
                // A title and its colon are as wide as the indent of further usage lines.
                let gap = isCommands && !text.isEmpty ? " " : ""
                add("\(translate(title))：\(gap)\(text)", hanging: isCommands ? 7 : 0, columns)
            } else if isCommands || line.isEmpty {
                isCommands = isCommands && !line.isEmpty
                add(String(line), hanging: 7, columns)
            } else {
                let (label, rest) = Self.label(of: line)
                add(label + translate(rest), hanging: label.count, columns)
            }
        }
    }

    /// Returns the title in capitals at the beginning of a line, and the rest of the line.
    private static func title(of line: Substring) -> (Substring?, Substring) {
        guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { return (nil, line) }
        let title = line[..<colon]
        guard title.count > 1, title.allSatisfy({ $0.isUppercase || $0 == " " }) else { return (nil, line) }
        return (title, line[colon...].dropFirst().drop { $0 == " " })
    }

    /// Returns the option, subcommand or exit code at the beginning of a line, with its spaces, and the explanation.
    private static func label(of line: Substring) -> (String, Substring) {
        guard line.utf8.hasPrefix("  ") else { return ("", line) }
        let number = line.prefix { $0 == " " || $0.isNumber }
        if number.utf8.hasSuffix("  "), number.contains(where: \.isNumber) {
            return (String(number), line[number.endIndex...])
        }
        let label = line.prefix(indent)
        guard label.count == indent, label.utf8.hasSuffix(" ") else { return (String(line), "") }
        return (String(label), line[label.endIndex...])
    }

    private mutating func translate(_ english: Substring) -> String {
        if english.isEmpty { return "" }
        let line = String(english)
        if let chinese = chinese.lazy.compactMap({ $0.texts[line] }).first { return chinese }
        // ArgumentParser appends the default and the permitted values; names are the same in every language.
        let marks = [(" (default: ", "（默认："), (" (values: ", "（可用值："), (" (names: ", "（名称：")]
        let notes = marks.compactMap { start, chinese in
            english.ranges(of: start).last.map { (range: $0, chinese: chinese) }
        }
        if english.utf8.hasSuffix(")"), let note = notes.max(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            let value = english[note.range.upperBound...].dropLast()
            return translate(english[..<note.range.lowerBound]) + note.chinese + value + "）"
        }
        untranslated.append(line)
        return line
    }

    private mutating func add(_ line: String, hanging: Int, _ columns: Int) {
        text += Self.broken(line, hanging: hanging, columns)
    }

    /// Returns a line with its line feed, wrapped at spaces and beside Chinese characters.
    static func broken(_ line: String, hanging: Int, _ columns: Int) -> String {
        var text = ""
        let indent = String(repeating: " ", count: hanging)
        var current = ""
        var width = 0
        var word = ""
        func isChinese(_ character: Character) -> Bool { DisplayWidth.columns(of: String(character)) == 2 }
        var rest = line[...]
        while !rest.isEmpty {
            word = String(rest.removeFirst())
            if let first = word.first, !isChinese(first), first != " " {
                while let next = rest.first, next != " ", !isChinese(next) { word.append(rest.removeFirst()) }
            }
            // No line begins with closing punctuation.
            while let next = rest.first, "，。；：、）".contains(next) { word.append(rest.removeFirst()) }
            let added = DisplayWidth.columns(of: word)
            if width + added > columns, current.contains(where: { $0 != " " }) {
                text += current.trimmingSuffix(" ") + "\n"
                (current, width) = (indent, hanging)
                if word == " " { continue }
            }
            current += word
            width += added
        }
        return text + current + "\n"
    }
}

extension String {
    fileprivate func trimmingSuffix(_ character: Character) -> Substring {
        var rest = self[...]
        while rest.last == character { rest.removeLast() }
        return rest
    }
}
