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

    /// Returns the arguments of `ferry get` for those of `program`, `curl` or `wget`.
    ///
    /// - Parameter isShown: Whether standard output is a terminal. To a file or a program, curl without a name for the
    ///   file writes what it fetches.
    static func translate(
        _ arguments: some Sequence<String>, of program: String, isShown: Bool
    ) throws(UsageError) -> [String] {
        let table = program == "curl" ? curl : wget
        var translated: [String] = []
        var hasName = false
        for argument in arguments {
            if ["--output", "--remote-name", "--remote-header"].contains(where: { argument.utf8.hasPrefix($0) }) {
                hasName = true
            }
            guard argument.utf8.hasPrefix("-"), !argument.utf8.hasPrefix("--"), argument.utf8.count > 1 else {
                translated.append(argument)
                continue
            }
            // Options may share a word: `-qO-`.
            var rest = argument.dropFirst()
            while let first = rest.first {
                let name = program == "wget" && first == "n" ? String(rest.prefix(2)) : String(first)
                if ["o", "O", "J"].contains(name) { hasName = true }
                guard let meaning = table[name] else {
                    translated.append("-" + rest)
                    break
                }
                rest = rest.dropFirst(name.utf8.count)
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
        return program == "curl" && !isShown && !hasName ? translated + ["-o", "-"] : translated
    }

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
