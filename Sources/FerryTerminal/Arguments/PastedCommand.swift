import FerryCore

/// Translates a pasted command line of curl or wget: its short options whose letters mean something else in Ferry.
enum PastedCommand {
    private enum Meaning {
        /// The same or another option, with the rest of the word or the next word as its value.
        case option(String)
        /// Words in place of an option without a value.
        case words([String])
        case refused(String)
    }

    /// What names the file of the original.
    private enum Naming: Equatable {
        /// The server, or no option.
        case none
        case file(String)
        /// The URL: `curl -O`, `wget -N`.
        case url
        /// The server, which must not replace a file by the name that it chooses: `curl -J`.
        case server
    }

    /// Returns the arguments of `ferry get` for those of `program`, `curl` or `wget`.
    ///
    /// A file that the user names is replaced there, and a quiet command prints nothing, so both are so here.
    ///
    /// - Parameter isShown: Whether standard output is a terminal. To a file or a program, curl without a name for the
    ///   file writes what it fetches.
    static func translate(
        _ arguments: some Sequence<String>, of program: String, isShown: Bool
    ) throws(UsageError) -> [String] {
        let table = tables[program] ?? [:]
        let words = Array(arguments)
        var translated: [String] = []
        var naming = Naming.none
        var (isQuiet, isNamedByServer) = (false, false)
        func note(_ letter: String, value: String) {
            switch (program, letter) {
            case ("curl", "o"), ("wget", "O"): naming = .file(value)
            case ("curl", "O") where naming == .none, ("wget", "N") where naming == .none: naming = .url
            case ("curl", "J"):
                if case .file = naming { break }
                naming = .server
            case ("wget", "J"): isNamedByServer = true
            case ("curl", "s"), ("wget", "q"): isQuiet = true
            default: break
            }
        }
        for (index, argument) in words.enumerated() {
            let next = words.dropFirst(index + 1).first ?? ""
            guard argument.utf8.hasPrefix("-"), !argument.utf8.hasPrefix("--"), argument.utf8.count > 1 else {
                let parts = argument.split(at: "=", omittingEmptySubsequences: false)
                guard let name = parts.first.map(String.init), let letter = long[program]?[name] else {
                    translated.append(argument)
                    continue
                }
                let isJoined = parts.count > 1
                note(letter, value: isJoined ? parts.dropFirst().joined(separator: "=") : next)
                switch table[letter] {
                case .option(let option)?:
                    translated.append(option)
                    if isJoined { translated.append(parts.dropFirst().joined(separator: "=")) }
                case .words(let words)?: translated += words
                case .refused?, nil: translated.append(argument)
                }
                continue
            }
            // Options may share a word: `-qO-`.
            var rest = argument.dropFirst()
            while let first = rest.first {
                let name = program == "wget" && first == "n" ? String(rest.prefix(2)) : String(first)
                let value = rest.dropFirst(name.utf8.count)
                note(name, value: value.isEmpty ? next : String(value))
                guard let meaning = table[name] else {
                    translated.append("-" + rest)
                    break
                }
                rest = value
                switch meaning {
                case .option(let option):
                    translated.append(option)
                    if !rest.isEmpty { translated.append(String(rest)) }
                    rest = ""
                case .words(let words): translated += words
                case .refused(let reason): throw UsageError("-\(name) of \(program): \(Reason.pattern(reason, []))")
                }
            }
        }
        if naming == .url, isNamedByServer { naming = .server }
        return translated + rules(naming, translated, of: program, isShown: isShown, isQuiet: isQuiet)
    }

    /// Returns the options that make Ferry name, replace and report a file as the original does.
    private static func rules(
        _ naming: Naming, _ words: [String], of program: String, isShown: Bool, isQuiet: Bool
    ) -> [String] {
        func has(_ option: String) -> Bool { words.contains { $0 == option || $0.utf8.hasPrefix(option + "=") } }
        var rules: [String] = []
        var isOwnName = program == "wget"
        switch naming {
        case .none:
            if program == "curl", !isShown { return ["-o", "-"] }
        case .file(let path):
            if RequestPlanner.descriptor(path) != nil { return [] }
            isOwnName = true
            if !has("--on-conflict") { rules += ["--on-conflict", "overwrite"] }
        case .url:
            isOwnName = true
            if !has("--name") { rules += ["--name", "{name}"] }
            if !has("--on-conflict") { rules += ["--on-conflict", "overwrite"] }
        case .server:
            if !has("--on-conflict") { rules += ["--on-conflict", "fail"] }
        }
        return isQuiet && isOwnName ? rules + ["--no-paths"] : rules
    }

    /// Long options with the meaning of a letter that the translation depends on.
    private static let long = [
        "curl": [
            "--output": "o", "--remote-name": "O", "--remote-name-all": "O", "--remote-header-name": "J",
            "--silent": "s",
        ],
        "wget": [
            "--output-document": "O", "--timestamping": "N", "--quiet": "q", "--content-disposition": "J",
        ],
    ]

    /// Returns the option of Ferry that a letter stands for which takes a value; `nil` for every other letter.
    static func valueOption(of letter: String, in program: String) -> String? {
        guard case .option(let option)? = tables[program]?[letter] else { return nil }
        return option
    }

    /// The letters of a program that take a value.
    static func valueLetters(of program: String) -> [String] {
        (tables[program] ?? [:]).keys.filter { valueOption(of: $0, in: program) != nil }.sorted()
    }

    private static let tables = ["curl": curl, "wget": wget]

    private static let curl: [String: Meaning] = [
        "s": .words(["-s"]), "S": .words([]), "f": .words([]), "L": .words([]), "O": .words([]), "J": .words([]),
        "R": .words([]), "g": .words([]), "#": .words([]), "N": .words([]), "Z": .words([]), "i": .words([]),
        "k": .words(["-k"]), "v": .words(["-v"]), "n": .words(["--netrc"]), "x": .option("--proxy"),
        "d": .refused(OptionAdvice.onlyGET), "F": .refused(OptionAdvice.onlyGET), "T": .refused(OptionAdvice.onlyGET),
        "I": .refused("use ferry plan URL"), "q": .words([]), "j": .words([]),
        "c": .refused("cookies of servers are kept for one download only"),
    ]

    private static let wget: [String: Meaning] = [
        "q": .words(["-q"]), "v": .words(["-v"]), "c": .words([]), "N": .words([]), "S": .words(["-v"]),
        "nv": .words(["-q"]), "nd": .words([]), "nH": .words([]), "np": .words([]),
        "nc": .words(["--on-conflict", "skip"]), "O": .option("-o"), "P": .option("-d"),
        "T": .option("--stall-timeout"),
        "U": .option("--user-agent"), "d": .words(["-v"]), "x": .words([]), "b": .refused("use ferry add URL"),
        "A": .refused(wholeFiles), "R": .refused(wholeFiles), "H": .refused(wholeFiles), "k": .refused(wholeFiles),
        "e": .refused("ferry reads no .wgetrc"),
        "o": .refused("it names a log file; use ferry get -v URL 2>FILE"),
        "r": .refused(wholeFiles), "m": .refused(wholeFiles),
    ]

    private static let wholeFiles =
        "ferry fetches whole files, one for each URL: no ranges, and nothing recursive"
}
