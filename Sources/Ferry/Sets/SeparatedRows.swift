import FerryCore

/// The rows of comma- or tab-separated values (RFC 4180): a field in quotation marks may contain separators, line breaks and
/// doubled marks. Empty lines and lines that begin with `#` are skipped.
struct SeparatedRows: Sequence, IteratorProtocol {
    struct Row: Equatable {
        /// The number of the row's first line, counted from 1.
        var line: Int
        /// `nil` for a row that has an unclosed quotation mark or is too long.
        var fields: [String]?
    }

    /// The maximum length of a row in bytes. A longer row counts as one with an unclosed quotation mark.
    private static let mostBytes = URLList.mostLineBytes

    private let bytes: [UInt8]
    private let separator: UInt8
    private var index: Int
    private var line = 1

    init(_ bytes: [UInt8], separator: UInt8) {
        (self.bytes, self.separator) = (bytes, separator)
        index = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    mutating func next() -> Row? {
        while index < bytes.count {
            let (start, first) = (index, line)
            guard isRow(at: start) else {
                skipLine()
                continue
            }
            if let fields = fields() { return Row(line: first, fields: fields) }
            // The following lines are read as rows again, so that one unclosed quotation mark does not discard the rest of the
            // list.
            (index, line) = (start, first)
            skipLine()
            return Row(line: first, fields: nil)
        }
        return nil
    }

    private func isRow(at start: Int) -> Bool {
        let first = bytes[start...].first { $0 == 0x0A || !ASCII.isWhiteSpace($0) }
        return first.map { $0 != 0x0A && $0 != UInt8(ascii: "#") } ?? false
    }

    private mutating func skipLine() {
        index = bytes[index...].firstIndex(of: 0x0A).map { $0 + 1 } ?? bytes.count
        line += 1
    }

    /// Reads one row. Returns `nil` if the row does not end.
    private mutating func fields() -> [String]? {
        let most = Swift.min(bytes.count, index + Self.mostBytes)
        var (fields, field): ([String], [UInt8]) = ([], [])
        var (isQuoted, isAtStart) = (false, true)
        func text() -> String { String(decoding: field, as: UTF8.self) }
        while index < bytes.count {
            guard index < most else { return nil }
            let byte = bytes[index]
            index += 1
            if isQuoted {
                if byte == 0x0A { line += 1 }
                guard byte == UInt8(ascii: "\"") else {
                    field.append(byte)
                    continue
                }
                if index < bytes.count, bytes[index] == byte {
                    field.append(byte)
                    index += 1
                } else {
                    isQuoted = false
                }
            } else if byte == UInt8(ascii: "\""), isAtStart {
                (isQuoted, isAtStart, field) = (true, false, [])
            } else if byte == separator {
                fields.append(text())
                (field, isAtStart) = ([], true)
            } else if byte == 0x0A {
                line += 1
                return fields + [text()]
            } else {
                isAtStart = isAtStart && ASCII.isWhiteSpace(byte)
                field.append(byte)
            }
        }
        return isQuoted ? nil : fields + [text()]
    }
}
