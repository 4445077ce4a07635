package import ArgumentParser
package import FerryCore

/// Recognises the command that the first words of a command line stand for.
package enum CommandAdvice {
    /// Returns the arguments with an explicit command: `ferry URL`, a pasted command of curl or wget, and a download
    /// option in first place stand for `ferry get`.
    ///
    /// - Parameters:
    ///   - commands: The names of all commands.
    ///   - isShown: Whether standard output is a terminal.
    package static func complete(
        _ arguments: [String], commands: [String], isShown: Bool = true
    ) throws(UsageError) -> [String] {
        guard let first = arguments.first else { return arguments }
        if first == "help", let topic = arguments.dropFirst().first(where: { !$0.utf8.hasPrefix("-") }) {
            guard names(topic, commands) else { throw unknown(topic, commands) }
            return arguments
        }
        if isPasted(first) { return try PastedCommand.translate(arguments.dropFirst(), of: first, isShown: isShown) }
        if names(first, commands) || first == "help" { return arguments }
        if first == "version" || first == "-V" { return ["--version"] }
        // Output flags may precede the command.
        // allow(bytes): a list of words.
        let flags = arguments.prefix {
            ["-q", "-s", "-v", "--quiet", "--verbose", "--json", "--no-progress"].contains($0)
        }
        if !flags.isEmpty, let command = arguments.dropFirst(flags.count).first, names(command, commands) {
            return [command] + flags + arguments.dropFirst(flags.count + 1)
        }
        if first.utf8.hasPrefix("-") {
            return arguments.contains { isURL($0) } ? ["get"] + arguments : arguments
        }
        guard isURL(first) else { throw unknown(first, commands) }
        return ["get"] + arguments
    }

    /// Returns the help of `ferry curl` and `ferry wget`; `nil` if the arguments do not request help.
    package static func pastedHelp(_ arguments: [String]) -> String? {
        let isTopic = arguments.first == "help"
        guard let program = arguments.dropFirst(isTopic ? 1 : 0).first.flatMap(PastedOption.Program.init(rawValue:)),
            isTopic || arguments.dropFirst().first.map({ ["--help", "-h"].contains($0) }) == true
        else { return nil }
        let name = program.rawValue
        let about: Reason =
            "ferry \(name) takes the command line of \(name) and downloads as ferry get does, whose options can be added. What becomes of each option:"
        let rows = PastedOption.all(of: program).map { option in
            let names = option.names.joined(separator: " ")
            return HelpText.row(names, option.text.replacing("`", by: ""), columns: 80)
        }
        return HelpText.broken(about.local, hanging: 0, 80) + rows.joined()
    }

    /// Whether a word begins a command line of curl or wget.
    package static func isPasted(_ word: String) -> Bool { PastedOption.Program(rawValue: word) != nil }

    private static func isURL(_ word: String) -> Bool {
        let word = word.lowercased()
        return ["http://", "https://", "s3://"].contains { word.utf8.hasPrefix($0) }
    }

    // allow(bytes): a list of words.
    private static func names(_ word: String, _ commands: [String]) -> Bool { commands.contains(word) }

    private static func unknown(_ word: String, _ commands: [String]) -> UsageError {
        let meant =
            synonyms[word].flatMap { $0.first { names($0, commands) } }
            ?? commands.filter { isLike(word, $0) }.min { distance(word, $0) < distance(word, $1) }
        let quoted = TextError.quote(word)
        if word.utf8.contains("://") { return UsageError("\(quoted): ferry downloads from http, https and s3 URLs") }
        guard let meant else {
            return UsageError("there is no command \(quoted); to download, write ferry get URL")
        }
        return UsageError("there is no command \(quoted): did you mean ferry \(meant)?")
    }

    /// The commands for each word, of which the first that exists is used.
    private static let synonyms: [String: [String]] = [
        "ls": ["list"], "ps": ["list"], "queue": ["list"], "status": ["status", "list"], "rm": ["remove"],
        "del": ["remove"], "delete": ["remove"], "purge": ["clear"], "clean": ["clear"], "info": ["show"],
        "stat": ["show"], "details": ["show"], "tail": ["watch"], "top": ["watch"], "monitor": ["watch"],
        "start": ["resume"], "unpause": ["resume"], "continue": ["resume"], "restart": ["restart", "resume"],
        "mv": ["move"], "reorder": ["move"], "download": ["get"], "dl": ["get"], "fetch": ["get"], "enqueue": ["add"],
        "config": ["set"], "settings": ["set"], "daemon": ["serve"], "server": ["serve"], "stop": ["stop", "pause"],
        "abort": ["cancel"], "kill": ["cancel"], "ui": ["web"], "open": ["web"], "dry-run": ["plan"],
        "check": ["doctor"],
    ]

    /// Whether a word may be a misspelling of a name.
    static func isLike(_ word: String, _ name: String) -> Bool { distance(word, name) <= max(1, word.utf8.count / 3) }

    /// Returns the number of bytes to insert, remove, replace, or exchange with their neighbour.
    private static func distance(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        // Longer words are not misspelled command names.
        guard one.count <= 24 else { return .max }
        var rows = [Array(0...other.count)]
        for i in 1..<(one.count + 1) {
            var row = [i]
            for j in 1..<(other.count + 1) {
                let cost = one[i - 1] == other[j - 1] ? 0 : 1
                var least = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + cost)
                if i > 1, j > 1, one[i - 1] == other[j - 2], one[i - 2] == other[j - 1] {
                    least = min(least, rows[i - 2][j - 2] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[one.count][other.count]
    }
}

/// Names the option of Ferry for an unknown option that other downloaders have.
package enum OptionAdvice {
    package static let onlyGET = "ferry downloads with GET: it sends no data and has no other method"

    /// Returns the message of the argument parser, with advice in place of its guess.
    ///
    /// - Parameter help: The help of the command. Advice that names an option which is not in it is omitted.
    package static func improve(_ message: String, help: String) -> Reason {
        // The permitted values of an option are on lines of their own.
        let message = message.replacing("\n  - ", by: ", ").replacing(":, ", by: ": ")
        guard let (pattern, values) = patterns.lazy.compactMap({ read(message, $0) }).first else {
            return .pattern(message, [])
        }
        // `-O-` of wget, whose second dash is parsed as an option.
        if pattern.utf8.hasPrefix("Unknown"), values[0].hasSameBytes(as: "--"), options(of: help).isSuperset(of: ["-o"])
        {
            return "-O-: to write to standard output, use -o -"
        }
        if pattern.utf8.hasPrefix("Unknown"), let advice = advice[values[0]],
            options(in: advice).isSubset(of: options(of: help))
        {
            return "\(values[0]): unknown option: \(Reason.pattern(advice, []))"
        }
        // The parser also suggests options that have little in common with the unknown one.
        if pattern.utf8.hasPrefix("Unknown"), values.count > 1, !CommandAdvice.isLike(bare(values[0]), bare(values[1]))
        {
            return "\(values[0]): unknown option"
        }
        let text = Reason.pattern(ours[pattern] ?? pattern, values.map { .words($0) })
        // curl's proxy option.
        guard pattern.utf8.hasPrefix("The value"), values[1].utf8.hasPrefix("-x "), values[0].utf8.contains(":") else {
            return text
        }
        return "\(text); for a proxy use --proxy URL"
    }

    /// The options that other downloaders have, and for which there is advice.
    package static var names: [String] { advice.keys.sorted() }

    /// Returns the options that a help text describes.
    package static func options(of help: String) -> Set<String> {
        help.split(at: "\n").reduce(into: []) { found, line in
            guard let names = line.dropping(prefix: "  -") else { return }
            let end = names.utf8.firstRange(of: "  ")?.lowerBound ?? names.endIndex
            found.formUnion(options(in: "-\(names[..<end])"))
        }
    }

    /// Returns the options that a text names.
    package static func options(in text: String) -> Set<String> {
        let isInName = { (byte: UInt8) in byte == UInt8(ascii: "-") || ASCII.isLetter(byte) || ASCII.isDigit(byte) }
        let words = Substring(text).utf8.split { !isInName($0) }.map { Substring($0) }
        return Set(words.filter { $0.utf8.hasPrefix("-") && $0.utf8.contains(where: ASCII.isLetter) }.map(String.init))
    }

    /// Returns the name of an option without its dashes.
    private static func bare(_ option: String) -> String { String(option.drop { $0 == "-" }) }

    /// The messages of the argument parser, the longer ones first.
    private static let patterns = [
        "Unknown option '{0}'. Did you mean '{1}'?", "Unknown option '{0}'", "Missing expected argument '{0}'",
        "Missing value for '{0}'", "The value '{0}' is invalid for '{1}'", "Unexpected argument '{0}'",
        "{0} unexpected arguments: {1}",
    ]

    /// The replacements: the subject first, as in Ferry's other messages.
    private static let ours = [
        "Unknown option '{0}'. Did you mean '{1}'?": "{0}: unknown option; did you mean {1}?",
        "Unknown option '{0}'": "{0}: unknown option", "Missing expected argument '{0}'": "{0} is missing",
        "Missing value for '{0}'": "{0} needs a value",
        "The value '{0}' is invalid for '{1}'": "{1}: “{0}” is not a valid value",
        "Unexpected argument '{0}'": "“{0}” is one argument too many",
        "{0} unexpected arguments: {1}": "{0} arguments too many: {1}",
    ]

    /// Returns the pattern and the values of its placeholders in the message; `nil` if the message does not match.
    private static func read(_ message: String, _ pattern: String) -> (pattern: String, values: [String])? {
        var (rest, parts) = (message[...], pattern[...])
        var values: [String] = []
        while let hole = parts.utf8.firstRange(of: "{\(values.count)}") {
            guard let start = rest.dropping(prefix: String(parts[..<hole.lowerBound])) else { return nil }
            parts = parts[hole.upperBound...]
            let next = parts.utf8.firstRange(of: "{\(values.count + 1)}")?.lowerBound ?? parts.endIndex
            let mark = String(parts[..<next])
            let end = mark.isEmpty ? start.endIndex : start.utf8.firstRange(of: mark)?.lowerBound
            guard let end else { return nil }
            values.append(String(start[..<end]))
            rest = start[end...]
        }
        return rest.utf8.elementsEqual(parts.utf8) ? (pattern, values) : nil
    }

    private static let advice: [String: String] = {
        var all: [String: String] = [:]
        for (names, advice) in table { for name in names.split(at: " ") { all[String(name)] = advice } }
        return all
    }()

    /// Option names, separated by spaces, and the advice.
    private static let table: [(String, String)] = [
        ("--cacert --capath --ca-certificate --ca-directory", "use --ca-file FILE"),
        ("-E --cert --key --certificate --private-key --pass", "client certificates cannot be used"),
        ("--no-check-certificate --check-certificate", "use --insecure"),
        (
            "-F -T --data --data-raw --data-binary --data-ascii --data-urlencode --form --form-string --upload-file "
                + "--post-data --post-file --body-data --body-file --method --get -G", onlyGET
        ),
        ("-I --head --spider --dry-run --simulate", "use ferry plan URL"),
        (
            "-r --range --recursive --page-requisites --start-pos",
            "ferry fetches whole files, one for each URL: no ranges, and nothing recursive"
        ),
        ("--rate --max-speed --max-download-limit --max-overall-download-limit", "use --limit-rate RATE"),
        ("--speed-limit --lowest-speed-limit", "use --min-speed RATE"),
        ("-m --timeout --max-time --read-timeout --speed-time", "use --stall-timeout or --connect-timeout"),
        ("-t --tries --retry --max-tries --retry-connrefused", "use --retries N"),
        ("--resume --continue-download", "leave it out: a started download is resumed"),
        ("-n --no-clobber --skip-existing", "use --on-conflict skip"),
        ("--overwrite --force --allow-overwrite --clobber", "use --on-conflict overwrite"),
        ("--split --max-connection-per-server --num-connections", "use -x N"),
        ("--max-concurrent-downloads --parallel-max", "use -j N"),
        ("--max-redirs --max-redirect --location-trusted", "use --max-redirects N; redirects are followed"),
        ("--output-document --out", "use -o FILE"), ("--directory-prefix --output-dir --directory", "use -d DIR"),
        ("--input-file", "use -i LIST"), ("--url", "give the URL alone"),
        (
            "--http-user --http-password --http-passwd --password --username --basic --digest",
            "use --user USER:PASSWORD; Basic and Digest are found out"
        ),
        ("--netrc-file --netrc-path", "write NETRC=FILE ferry get --netrc"),
        (
            "-U",
            "it is the user of the proxy in curl and the user agent in wget: use --proxy http://USER:PASSWORD@HOST or -A TEXT"
        ),
        (
            "--proxy-user --proxy-password --all-proxy --http-proxy --https-proxy --socks5 --socks5-hostname --preproxy",
            "use --proxy http://USER:PASSWORD@HOST:PORT or socks5://HOST:PORT"
        ),
        ("--noproxy --no-proxy", "use --proxy none, or the variable no_proxy"),
        ("--cookie-jar --save-cookies --keep-session-cookies", "cookies of servers are kept for one download only"),
        ("--sha256 --sha512 --sha1 --md5", "use --checksum sha256:HEX (or sha512, sha1, md5)"),
        ("--no-verbose --no-progress-meter", "use -q or --no-progress"),
        ("--interface --bind-address --resolve --dns-servers --unix-socket", "the route cannot be chosen"),
    ]
}

/// Options of curl and wget that request what Ferry does by default. They are accepted, so that a pasted command works,
/// but hidden from the help.
package struct FamiliarOptions: ParsableArguments, Sendable {
    /// Following redirects, resuming, naming the file after the server, failing on an HTTP error, URLs without patterns,
    /// an unchanged body, the server's date.
    @Flag(
        name: [
            .customShort("L"), .customLong("location"), .customShort("O"), .customLong("remote-name"),
            .customShort("J"), .customLong("remote-header-name"),
            .customLong("content-disposition"), .customShort("f"), .customLong("fail"), .customShort("S"),
            .customLong("show-error"), .customShort("g"), .customLong("globoff"), .customLong("compressed"),
            .customShort("R"), .customLong("remote-time"),
        ], help: .hidden)
    package var isAccepted = false

    /// Resuming an existing file of another program. Ferry's own files are always resumed.
    @Flag(name: [.customShort("c"), .customLong("continue")], help: .hidden)
    package var isContinued = false

    /// Whether a file that another program began is resumed.
    var goesOn: Bool { isContinued || continueAt != nil }

    /// The offset of `curl -C`, which Ferry determines itself.
    @Option(name: [.customShort("C"), .customLong("continue-at")], parsing: .unconditional, help: .hidden)
    package var continueAt: String?

    /// Requires that the directory of `-o` exists, as curl does without `--create-dirs`.
    @Flag(name: .customLong("no-create-dirs"), help: .hidden)
    package var keepsDirectories = false

    @Option(name: [.customShort("X"), .customLong("request")], help: .hidden)
    package var method: String?

    package init() {}

    package func validate() throws {
        if let continueAt, continueAt != "-" {
            throw ValidationError("-C \(continueAt): ferry finds out itself where to go on; leave it out")
        }
        if let method, method.uppercased() != "GET" { throw ValidationError(OptionAdvice.onlyGET) }
    }
}
