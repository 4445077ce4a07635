/// The tokenizer for netrc files; records the line of the last word.
struct NetrcWords {
    /// The line of the last word, counted from 1.
    private(set) var line = 1
    private let bytes: [UInt8]
    private var position = 0
    private var currentLine = 1

    init(_ text: String) {
        var utf8 = text.utf8[...]
        if utf8.starts(with: [0xEF, 0xBB, 0xBF]) { utf8 = utf8.dropFirst(3) }
        bytes = Array(utf8)
    }

    /// Returns the next word outside comments; `nil` at the end.
    mutating func keyword() throws(TextError) -> String? {
        skipWhiteSpace()
        while position < bytes.count, bytes[position] == UInt8(ascii: "#") {
            skipLine()
            skipWhiteSpace()
        }
        return try next()
    }

    /// Returns the next word, even if it begins with `#`.
    mutating func value(of keyword: String) throws(TextError) -> String {
        let keywordLine = line
        skipWhiteSpace()
        guard let word = try next() else { throw TextError("\(keyword) has no value", line: keywordLine) }
        return word
    }

    /// Skips to the next empty line or the end.
    mutating func skipMacro() {
        skipLine()
        while position < bytes.count {
            let start = position
            skipLine()
            if bytes[start..<position].allSatisfy(ASCII.isWhiteSpace) { return }
        }
    }

    private mutating func next() throws(TextError) -> String? {
        guard position < bytes.count else { return nil }
        line = currentLine
        return bytes[position] == UInt8(ascii: "\"") ? try quoted() : plain()
    }

    private mutating func plain() -> String {
        let start = position
        while position < bytes.count, !ASCII.isWhiteSpace(bytes[position]) { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func quoted() throws(TextError) -> String {
        var word: [UInt8] = []
        position += 1
        while position < bytes.count, bytes[position] != 0x0A {
            var byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: word, as: UTF8.self) }
            if byte == UInt8(ascii: "\\"), position < bytes.count, bytes[position] != 0x0A {
                byte = bytes[position]
                position += 1
                switch byte {
                case UInt8(ascii: "n"): byte = 0x0A
                case UInt8(ascii: "r"): byte = 0x0D
                case UInt8(ascii: "t"): byte = 0x09
                default: break
                }
            }
            word.append(byte)
        }
        throw TextError("a quotation mark is not closed", line: line)
    }

    private mutating func skipWhiteSpace() {
        while position < bytes.count, ASCII.isWhiteSpace(bytes[position]) {
            if bytes[position] == 0x0A { currentLine += 1 }
            position += 1
        }
    }

    /// Skips to the start of the next line.
    private mutating func skipLine() {
        while position < bytes.count {
            position += 1
            if bytes[position - 1] == 0x0A {
                currentLine += 1
                return
            }
        }
    }
}
