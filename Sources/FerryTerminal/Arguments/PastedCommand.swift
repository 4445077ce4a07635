import FerryCore

/// Translates a command of curl or wget into the equivalent command of Ferry. Pure.
struct PastedCommand {
    /// The source of the file's name in the original command.
    private enum Naming: Equatable {
        /// No option specifies the name.
        case none
        case file(String)
        /// The URL: `curl -O`, `wget -N`.
        case url
        /// The server, whose name must not replace an existing file: `curl -J`.
        case server
    }

    /// The additional options of `wget -r`.
    private struct Recursion {
        var isOn = false
        var isMirror = false
        /// The requested depth of directories, `.some(nil)` for any; `nil` for wget's default.
        var depth: Int??
        var hasHost = true
        var cut = 0
        var prefix: String?
        var patterns: [String] = []
        /// An option that cannot be combined with a sync.
        var obstacle: String?
    }

    private let program: PastedOption.Program
    /// The words of Ferry's command, including the URLs.
    private var words: [String] = []
    /// The indices of the words that are not part of an option.
    private var alone: [Int] = []
    private var naming = Naming.none
    /// How many URLs `curl -O` names; `nil` for all.
    private var namedURLs: Int? = 0
    private var isNamedByServer = false
    private var isQuiet = false
    private var showsProgress = false
    private var retriesRefused = false
    private var expandsPatterns = true
    private var isSecureOnly = false
    private var user: String?
    private var password: String?
    private var forcesDirectories = false
    private var goesOn = false
    private var makesDirectories = false
    private var recursion = Recursion()

    private init(_ program: PastedOption.Program) { self.program = program }

    /// Returns Ferry's arguments, with the command, for the arguments of `program`, which is `curl` or `wget`.
    ///
    /// As in the original, a file that the user names is replaced, and a quiet command prints nothing.
    ///
    /// - Parameter isShown: Whether standard output is a terminal. If it is not, curl without a file name writes the content
    ///   there.
    static func translate(
        _ arguments: some Sequence<String>, of program: String, isShown: Bool
    ) throws(UsageError) -> [String] {
        guard let program = PastedOption.Program(rawValue: program) else { return Array(arguments) }
        var command = PastedCommand(program)
        try command.read(Array(arguments))
        return try command.whole(isShown: isShown)
    }

    // MARK: Reading

    private mutating func read(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        func next(for name: String) throws(UsageError) -> String {
            guard let value = rest.popFirst() else { throw UsageError("\(name) needs a value") }
            return value
        }
        while let argument = rest.popFirst() {
            if argument.hasSameBytes(as: "--") {
                words.append(argument)
                for word in rest { add(word) }
                return
            }
            guard argument.utf8.hasPrefix("-"), argument.utf8.count > 1 else {
                add(argument)
                continue
            }
            if argument.utf8.hasPrefix("--") {
                let name = String(argument.prefix { $0 != "=" })
                guard let option = PastedOption.named(name, of: program) else {
                    // One of Ferry's own options.
                    words.append(argument)
                    continue
                }
                let joined = name.utf8.count < argument.utf8.count ? String(argument.dropFirst(name.count + 1)) : nil
                if let joined {
                    guard option.meaning.takesValue || isRefused(option) else {
                        throw UsageError("\(name) takes no value")
                    }
                    try take(option, name, joined)
                } else {
                    try take(option, name, option.meaning.takesValue ? try next(for: name) : "")
                }
                continue
            }
            // Options may share a word, as in `-qO-`.
            var letters = argument.dropFirst()
            while let first = letters.first {
                let name = "-" + (program == .wget && first == "n" ? String(letters.prefix(2)) : String(first))
                guard let option = PastedOption.named(name, of: program) else {
                    words.append("-" + letters)
                    break
                }
                letters = letters.dropFirst(name.count - 1)
                guard option.meaning.takesValue else {
                    try take(option, name, "")
                    continue
                }
                try take(option, name, letters.isEmpty ? try next(for: name) : String(letters))
                break
            }
        }
    }

    private func isRefused(_ option: PastedOption) -> Bool {
        if case .refused = option.meaning { true } else { false }
    }

    private mutating func add(_ word: String) {
        alone.append(words.count)
        words.append(word)
    }

    private func refuse(_ name: String, _ reason: Reason) -> UsageError {
        UsageError("\(name) of \(program.rawValue): \(reason)")
    }

    private mutating func take(_ option: PastedOption, _ name: String, _ value: String) throws(UsageError) {
        switch option.meaning {
        case .words(let own): words += own
        case .option(let own): words += [own, value]
        case .seconds(let own):
            // A number without a unit is in seconds; Ferry has the units m, h and d too.
            words += [own, value.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E } ? value + "s" : value]
        case .size(let own): words += [own, Self.size(value)]
        case .nothing: break
        case .refused(let reason): throw refuse(name, Reason.pattern(reason, []))
        case .role(let role): try take(role, name, value)
        }
    }

    private mutating func take(_ role: PastedOption.Role, _ name: String, _ value: String) throws(UsageError) {
        switch role {
        case .file:
            naming = .file(value)
            words += ["-o", value]
            recursion.obstacle = name
        case .nameOfURL:
            if naming == .none { naming = .url }
            namedURLs = namedURLs.map { $0 + 1 }
        case .namesOfURLs:
            if naming == .none { naming = .url }
            namedURLs = nil
        case .nameOfServer:
            if program == .wget { isNamedByServer = true } else if !isFile { naming = .server }
        case .quiet:
            isQuiet = true
            words.append("-q")
        case .showsProgress: showsProgress = true
        case .retries: words += ["--retries", value]
        case .tries:
            let count = Int(value)
            words += ["--retries", value == "inf" || count == 0 ? "inf" : count.map { String($0 - 1) } ?? value]
        case .retriesRefused: retriesRefused = true
        case .protocols:
            let names = value.split(at: ",").map { String($0.drop { $0 == "=" || $0 == "+" }) }
            guard names.allSatisfy({ ["http", "https", "-all"].contains($0) }), names.contains("https") else {
                throw refuse(name, "ferry fetches http and https")
            }
            if name.hasSameBytes(as: "--proto"), !names.contains("http") { isSecureOnly = true }
        case .url: add(value)
        case .field: words += try Self.field(value, option: name, refuse)
        case .glob: expandsPatterns = false
        case .bearer: words += ["-H", "Authorization: Bearer " + value]
        case .noProxyFor:
            guard value.hasSameBytes(as: "*") else {
                throw refuse(name, "use --proxy none, or the variable no_proxy")
            }
            words += ["--proxy", "none"]
        case .user: user = value
        case .password: password = value
        case .execute:
            guard value.filter({ $0 != " " }).hasSameBytes(as: "robots=off") else {
                throw refuse(name, "ferry reads no .wgetrc")
            }
        case .method:
            guard value.uppercased().hasSameBytes(as: "GET") else {
                throw refuse(name, Reason.pattern(OptionAdvice.onlyGET, []))
            }
        case .recursive: recursion.isOn = true
        case .mirror: (recursion.isOn, recursion.isMirror) = (true, true)
        case .level:
            let endless = value.hasSameBytes(as: "inf") || value.hasSameBytes(as: "0")
            guard endless || Int(value).map({ $0 > 0 }) == true else { throw UsageError("\(name) needs a number") }
            recursion.depth = .some(endless ? nil : Int(value).map { $0 - 1 })
        case .prefix: recursion.prefix = value
        case .noHost: recursion.hasHost = false
        case .cutDirectories:
            guard let count = Int(value), count >= 0 else { throw UsageError("\(name) needs a number") }
            recursion.cut = count
        case .noDirectories: recursion.obstacle = name
        case .forceDirectories: forcesDirectories = true
        case .goesOn: goesOn = true
        case .makesDirectories: makesDirectories = true
        case .accept: recursion.patterns += Self.patterns(value, "--include")
        case .reject: recursion.patterns += Self.patterns(value, "--exclude")
        case .noClobber:
            words += ["--on-conflict", "skip"]
            recursion.obstacle = name
        }
    }

    /// Returns the option for a header field as the original sends it. A command that a browser has copied may have conditions
    /// of the browser's cache, and the range of a media player: Ferry makes its own.
    private static func field(
        _ text: String, option: String, _ refuse: (String, Reason) -> UsageError
    ) throws(UsageError) -> [String] {
        let name = text.prefix { $0 != ":" }
        // curl sends an empty field for `Name;`, and none for `Name:`.
        if name.utf8.count == text.utf8.count {
            return ["-H", text.utf8.hasSuffix(";") ? text.dropLast() + ":" : text]
        }
        let value = String(text.dropFirst(name.count + 1)).trimmedText
        switch String(name).trimmedText.asciiLowercased {
        case "range":
            guard value.hasSameBytes(as: "bytes=0-") else {
                throw refuse(option + " Range", Reason.pattern(PastedOption.wholeFiles, []))
            }
            return []
        case "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range": return []
        default: return value.isEmpty ? [] : ["-H", text]
        }
    }

    private var isFile: Bool { if case .file = naming { true } else { false } }

    /// Returns a size in Ferry's syntax. In curl and wget, `K` is 1024, and a number without a unit is in bytes.
    private static func size(_ text: String) -> String {
        guard let unit = text.last, "kKmMgG".contains(unit) else { return Int(text) == nil ? text : text + "B" }
        return "\(text.dropLast())\(unit.uppercased())iB"
    }

    /// Returns the options for a list of suffixes or patterns, which are separated by commas.
    private static func patterns(_ list: String, _ option: String) -> [String] {
        list.split(at: ",").flatMap { text in
            let isPattern = text.contains { "*?[".contains($0) }
            return [option, isPattern ? String(text) : "*" + text]
        }
    }

    // MARK: The command

    private func whole(isShown: Bool) throws(UsageError) -> [String] {
        for index in alone {
            if isSecureOnly, words[index].lowercased().utf8.hasPrefix("http://") {
                throw refuse("--proto", "\(TextError.quote(words[index])) is not an https URL")
            }
            // A list of names or numbers in braces or brackets, but not an address in brackets.
            let hasPattern =
                words[index].utf8.contains("{") || words[index].utf8.contains("[") && words[index].utf8.contains("-")
            if program == .curl, expandsPatterns, hasPattern {
                throw UsageError(
                    "\(TextError.quote(words[index])): ferry expands no patterns: give each URL, or -g to take it as it is"
                )
            }
        }
        // curl concatenates the files without a name on standard output.
        if program == .curl, !isFile, let namedURLs, 1..<max(1, alone.count) ~= namedURLs {
            throw refuse("-O", "it is for one URL: give it \(alone.count) times, or --remote-name-all")
        }
        var end = try secrets()
        if recursion.isOn { return try sync(end) }
        var words = words
        var start = ["get"]
        if !retriesRefused { start.append("--fail-when-refused") }
        if goesOn { start.append("-c") }
        if let prefix = recursion.prefix { start += ["-d", prefix] }
        if forcesDirectories, naming == .none {
            end += ["--name", recursion.hasHost ? "\(hostField)/{path}/{name}" : "{path}/{name}"]
        }
        if isQuiet, showsProgress {
            words.removeAll { $0.hasSameBytes(as: "-q") }
            end.append("--no-paths")
        }
        return start + words + end + rules(words, isShown: isShown)
    }

    /// The host's directory, with the port if a URL specifies one.
    private var hostField: String {
        let origins = alone.map { try? DownloadURL(words[$0]) }
        guard let url = origins.first ?? nil, url.port != url.scheme.defaultPort,
            origins.allSatisfy({ $0?.host == url.host && $0?.port == url.port })
        else { return "{host}" }
        return "\(url.host):\(url.port)"
    }

    /// Returns the option for the credentials, for which wget has two options.
    private func secrets() throws(UsageError) -> [String] {
        switch (user, password) {
        case (nil, nil): return []
        case (let user?, let password): return ["-u", password.map { "\(user):\($0)" } ?? user]
        case (nil, _?): throw UsageError("--password needs --user")
        }
    }

    /// Returns the options that make Ferry name, replace and report a file as the original does.
    private func rules(_ words: [String], isShown: Bool) -> [String] {
        func has(_ option: String) -> Bool { words.contains { $0 == option || $0.utf8.hasPrefix(option + "=") } }
        var naming = naming
        if naming == .url, isNamedByServer { naming = .server }
        var rules: [String] = []
        switch naming {
        case .none:
            if program == .curl { return isShown ? [] : ["-o", "-"] }
        case .file(let path):
            if RequestPlanner.descriptor(path) != nil { return [] }
            if program == .curl, !makesDirectories, path.utf8.contains("/") { rules.append("--no-create-dirs") }
            if !has("--on-conflict") { rules += ["--on-conflict", "overwrite"] }
        case .url:
            if !has("--name") { rules += ["--name", "{name}"] }
            if !has("--on-conflict") { rules += ["--on-conflict", "overwrite"] }
        case .server:
            if !has("--on-conflict") { rules += ["--on-conflict", "fail"] }
        }
        return isQuiet && !showsProgress ? rules + ["--no-paths"] : rules
    }

    // MARK: wget -r

    /// Returns the `ferry sync` command for the directory that wget would fill.
    private func sync(_ end: [String]) throws(UsageError) -> [String] {
        let name = recursion.isMirror ? "-m" : "-r"
        if let obstacle = recursion.obstacle {
            throw refuse(name, "it becomes ferry sync, which has no \(obstacle)")
        }
        let urls = alone.filter { words[$0].utf8.contains("://") }
        guard urls.count == 1, let index = urls.first, var url = try? DownloadURL(words[index]) else {
            throw refuse(name, "it becomes ferry sync, which takes the URL of one directory")
        }
        var source = words[index]
        if !url.path.utf8.hasSuffix("/") {
            guard let last = url.path.split(at: "/").last, !last.utf8.contains("."), url.query == nil,
                let directory = try? DownloadURL(source + "/")
            else { throw refuse(name, "it becomes ferry sync: write the URL of the directory, with a / at its end") }
            (source, url) = (source + "/", directory)
        } else if url.path.utf8.count == 1, !source.utf8.hasSuffix("/") {
            source += "/"
        }
        var path = url.path.split(at: "/").map { String(decoding: PercentEncoding.decode($0.utf8), as: UTF8.self) }
            .filter { !$0.isEmpty && $0 != "." && $0 != ".." && !$0.utf8.contains("/") }
        path.removeFirst(min(recursion.cut, path.count))
        if recursion.hasHost {
            let isUsual = url.port == url.scheme.defaultPort
            path.insert(isUsual ? url.host : "\(url.host):\(url.port)", at: 0)
        }
        if let prefix = recursion.prefix { path.insert(prefix, at: 0) }
        var rest = words
        rest.remove(at: index)
        // wget follows links to depth 5. The files that the page itself links to are at depth 1.
        let most: Int? = if let asked = recursion.depth { asked } else { recursion.isMirror ? nil : 4 }
        let depth = most.map { ["--depth", "\($0)"] } ?? []
        var start = ["sync", source, path.isEmpty ? "." : path.joined(separator: "/")]
        if !retriesRefused { start.append("--fail-when-refused") }
        let quiet = isQuiet ? ["--no-paths"] : []
        return start + depth + recursion.patterns + rest + end + quiet
    }

    // MARK: Secrets

    /// Returns the Ferry option that a letter with a value stands for; `nil` for every other letter.
    static func valueOption(of letter: String, in program: String) -> String? {
        guard let program = PastedOption.Program(rawValue: program) else { return nil }
        return switch PastedOption.named("-" + letter, of: program)?.meaning {
        case .option(let option)?, .seconds(let option)?, .size(let option)?: option
        default: nil
        }
    }

    /// Returns the letters of a program that have a value.
    static func valueLetters(of program: String) -> [String] {
        guard let program = PastedOption.Program(rawValue: program) else { return [] }
        return PastedOption.all(of: program).flatMap(\.names).filter { $0.utf8.count == 2 }
            .map { String($0.dropFirst()) }.filter { valueOption(of: $0, in: program.rawValue) != nil }.sorted()
    }
}
