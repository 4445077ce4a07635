/// The credentials of a `.netrc` file, by host.
public struct Netrc: Sendable, Hashable {
    private struct Entry: Hashable, Sendable {
        /// The host in lower case; `nil` for `default`.
        var host: String?
        var login: String?
        var password: String?
    }

    private var entries: [Entry] = []

    /// Parses `machine HOST login USER password WORD`, `default`, `account WORD` and `macdef NAME` in any layout.
    ///
    /// Words may be in double quotes with `\"`, `\\`, `\n`, `\r`, `\t`. `#` starts a comment where a keyword may occur.
    /// A macro ends at an empty line.
    public init(_ text: String) throws(TextError) {
        var words = NetrcWords(text)
        while let word = try words.keyword() {
            switch word.asciiLowercased {
            case "machine": entries.append(Entry(host: try words.value(of: "machine").asciiLowercased))
            case "default": entries.append(Entry(host: nil))
            case "login":
                let value = try words.value(of: "login")
                try change(line: words.line) { $0.login = value }
            case "password":
                let value = try words.value(of: "password")
                try change(line: words.line) { $0.password = value }
            case "account":
                _ = try words.value(of: "account")
                try change(line: words.line) { _ in }
            case "macdef":
                _ = try words.value(of: "macdef")
                words.skipMacro()
            default:
                throw TextError(
                    "this word is none of machine, default, login, password, account, macdef", line: words.line)
            }
        }
    }

    /// Returns the credentials of the first `machine` entry for this host, otherwise of `default`; `nil` if neither
    /// exists.
    ///
    /// - Parameter user: If given, only entries with this login, or without a login, match.
    public func credentials(for host: String, user: String? = nil) -> Credentials? {
        let host = host.asciiLowercased
        let fits = { (entry: Entry) in
            (entry.login != nil || entry.password != nil) && (user == nil || entry.login == nil || entry.login == user)
        }
        let entry = entries.first { $0.host == host && fits($0) } ?? entries.first { $0.host == nil && fits($0) }
        return entry.map { Credentials(user: $0.login ?? user ?? "", password: $0.password ?? "") }
    }

    /// Returns the credentials of the first `machine` entry for this host; `nil` if there is none. A `default` entry does not
    /// count, because it names no host.
    package func credentials(naming host: String) -> Credentials? {
        let host = host.asciiLowercased
        let entry = entries.first { $0.host == host && ($0.login != nil || $0.password != nil) }
        return entry.map { Credentials(user: $0.login ?? "", password: $0.password ?? "") }
    }

    private mutating func change(line: Int, _ body: (inout Entry) -> Void) throws(TextError) {
        guard let last = entries.indices.last else {
            throw TextError("login and password come after machine or default", line: line)
        }
        body(&entries[last])
    }
}

extension Netrc: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number of entries, because their contents are secret.
    public var description: String { "\(entries.count) netrc entries" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

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
