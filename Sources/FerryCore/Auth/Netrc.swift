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
    /// Words may be in double quotes with `\"`, `\\`, `\n`, `\r`, `\t`; `#` begins a comment where a keyword may be; a
    /// macro ends at an empty line.
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

    /// Returns the credentials of the first `machine` of this host, else of `default`; `nil` when there is neither.
    ///
    /// - Parameter user: If given, only entries with this login, or with none, match.
    public func credentials(for host: String, user: String? = nil) -> Credentials? {
        let host = host.asciiLowercased
        let fits = { (entry: Entry) in
            (entry.login != nil || entry.password != nil) && (user == nil || entry.login == nil || entry.login == user)
        }
        let entry = entries.first { $0.host == host && fits($0) } ?? entries.first { $0.host == nil && fits($0) }
        return entry.map { Credentials(user: $0.login ?? user ?? "", password: $0.password ?? "") }
    }

    private mutating func change(line: Int, _ body: (inout Entry) -> Void) throws(TextError) {
        guard let last = entries.indices.last else {
            throw TextError("login and password come after machine or default", line: line)
        }
        body(&entries[last])
    }
}

extension Netrc: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number of entries; their contents are secret.
    public var description: String { "\(entries.count) netrc entries" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
