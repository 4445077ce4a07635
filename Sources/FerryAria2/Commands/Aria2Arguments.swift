import FerryCore
import FerryTerminal
import HTTPTypes

/// A failure of the `aria2c` command itself, with aria2's exit status.
struct Aria2Failure: Error, Hashable {
    var status: Aria2ExitStatus
    /// One line, in English like all output of this command, because programs parse it.
    var message: String

    init(_ status: Aria2ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    static func option(_ message: String) -> Aria2Failure { Aria2Failure(.option, message) }
}

/// The values of aria2's options by their long names. Headers accumulate; any other value replaces the one before it.
struct Aria2Values: Sendable, Hashable {
    private(set) var texts: [String: String] = [:]
    private(set) var headers: [String] = []
    /// The ignored options, in order.
    private(set) var ignored: [String] = []

    /// Sets the value of an option by its long name.
    mutating func set(_ name: String, _ value: String) throws(Aria2Failure) {
        guard let option = Aria2Option.named(name) else { throw .option("unrecognized option '--\(name)'") }
        if option.form == .flag, option.command == .applied, name != "help", !["true", "false"].contains(value) {
            throw .option("--\(name) must be true or false, not '\(value)'")
        }
        switch option.command {
        case .applied where option.form == .lines: headers.append(value)
        case .applied: texts[name] = value
        case .kept: break
        case .ignored: if value != "false", !ignored.contains(name) { ignored.append(name) }
        case .refused:
            if value != "false" { throw .option("ferry cannot follow --\(name)") }
        }
    }

    /// Returns these values, overridden by those of another layer.
    func merged(with upper: Aria2Values) -> Aria2Values {
        var merged = self
        merged.texts.merge(upper.texts) { $1 }
        merged.headers += upper.headers
        for name in upper.ignored where !merged.ignored.contains(name) { merged.ignored.append(name) }
        return merged
    }

    /// Returns the values of the command for one of its downloads, overridden by those of the list's entry. A password of the
    /// command is used only with the command's user name and proxy, so that an entry cannot send it to a proxy of its own. An
    /// entry with its own route gets neither cookies nor the netrc file.
    func forEntry(_ entry: Aria2Values) -> Aria2Values {
        var command = self
        if entry["http-user"] != nil { command.texts["http-passwd"] = nil }
        for proxy in ["all-proxy", "http-proxy", "https-proxy"] {
            if entry[proxy] != nil { command.texts[proxy + "-user"] = nil }
            if entry[proxy] != nil || entry[proxy + "-user"] != nil { command.texts[proxy + "-passwd"] = nil }
        }
        guard entry.bringsOwnRoute else { return command.merged(with: entry) }
        command.texts["load-cookies"] = nil
        var merged = command.merged(with: entry)
        merged.texts["no-netrc"] = "true"
        return merged
    }

    /// Whether these values of a list's entry determine the route of its download: they set a proxy, or disable certificate
    /// verification.
    var bringsOwnRoute: Bool {
        texts.keys.contains { $0.utf8.hasSuffix("-proxy") } || !flag("check-certificate", default: true)
    }

    /// Removes and returns the credentials and the secret headers, which ``SecretGrant`` holds for all downloads of the
    /// command. File names given for headers are replaced by the headers in the files.
    mutating func takeSecrets(_ world: PlanningWorld) throws(UsageError) -> (headers: HTTPFields, user: String?) {
        let user = texts["http-user"].map { $0 + ":" + (texts["http-passwd"] ?? "") }
        (texts["http-user"], texts["http-passwd"]) = (nil, nil)
        let fields = try world.headers(headers)
        headers = fields.withoutSecrets.map { "\($0.name.rawName): \($0.value)" }
        return (fields.secrets, user)
    }

    subscript(name: String) -> String? { texts[name] }

    func flag(_ name: String, default standard: Bool = false) -> Bool { texts[name].map { $0 == "true" } ?? standard }

    /// Returns the value of an option whose form is a number.
    func number(_ name: String) throws(Aria2Failure) -> Int? {
        guard let text = texts[name], case .whole(let bounds)? = Aria2Option.named(name)?.form else { return nil }
        guard let number = Int(text), bounds ~= number else {
            throw .option("\(name) must be between \(bounds.lowerBound) and \(bounds.upperBound).")
        }
        return number
    }

    /// Returns the value of an option whose form is a size, in bytes; `nil` for 0, which means no limit.
    func size(_ name: String) throws(Aria2Failure) -> ByteCount? {
        guard let text = texts[name], case .size(let bounds)? = Aria2Option.named(name)?.form else { return nil }
        guard let size = Aria2Option.size(text), bounds ~= size else {
            throw .option("\(name) must be a number of bytes, with K or M.")
        }
        return size == 0 ? nil : size
    }
}

/// The command line of aria2c: its options, and the other words.
struct Aria2Arguments: Sendable, Hashable {
    var values = Aria2Values()
    var words: [String] = []

    init(_ arguments: some Sequence<String>) throws(Aria2Failure) {
        var reader = Aria2WordReader(Array(arguments))
        while let element = try reader.next() {
            switch element {
            case .word(let word): words.append(word)
            case .option(let name, let place): try values.set(name, place.map(reader.text) ?? "true")
            }
        }
    }
}

/// Parses aria2's files: settings, and lists of downloads.
enum Aria2Files {
    /// Parses a settings file: one `name=value` per line. Unknown options are skipped, as in aria2.
    static func settings(_ text: String) throws(Aria2Failure) -> Aria2Values {
        var values = Aria2Values()
        for line in text.split(at: "\n") {
            guard let (name, value) = option(line), !name.utf8.hasPrefix("#"), Aria2Option.named(name) != nil
            else {
                continue
            }
            try values.set(name, value)
        }
        return values
    }

    /// Parses a list of downloads: a line contains the URIs of one file, separated by tabs, and the indented lines below it
    /// contain its options. Returns the downloads, and the options that are not allowed in a list.
    static func entries(_ text: String) throws(Aria2Failure) -> (entries: [Aria2Arguments], unknown: [String]) {
        var entries: [Aria2Arguments] = []
        var unknown: [String] = []
        for line in text.split(at: "\n") {
            let isOption = line.utf8.first == UInt8(ascii: " ") || line.utf8.first == UInt8(ascii: "\t")
            let content = line.utf8.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if content.utf8.first == UInt8(ascii: "#") { continue }
            if isOption {
                guard let last = entries.indices.last, let (name, value) = option(content) else { continue }
                let known = Aria2Option.named(name)
                guard known?.isOfLists == true else {
                    // aria2's options that have no effect in Ferry are not reported.
                    if known?.command != .kept { unknown.append("\(name)=\(value)") }
                    continue
                }
                try entries[last].values.set(name, value)
            } else {
                let uris = content.split(at: "\t").map(String.init)
                guard !uris.isEmpty else { continue }
                var entry = try Aria2Arguments([])
                entry.words = uris
                entries.append(entry)
            }
        }
        return (entries, unknown)
    }

    private static func option(_ line: Substring) -> (name: String, value: String)? {
        let parts = line.split(at: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        return (trimmed(parts[0]), trimmed(parts[1]))
    }

    private static func trimmed(_ text: Substring) -> String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        let start = text.utf8.drop(while: isSpace)
        guard let last = start.lastIndex(where: { !isSpace($0) }) else { return "" }
        return String(Substring(start[...last]))
    }
}
