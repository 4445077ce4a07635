import FerryCore

/// The command that the first words of a command line mean.
package enum CommandAdvice {
    /// Returns the arguments with the command that they mean: `ferry URL`, a pasted command of curl or wget, and a first
    /// option of a download stand for `ferry get`.
    ///
    /// - Parameter commands: The names of all commands.
    package static func complete(_ arguments: [String], commands: [String]) throws(UsageError) -> [String] {
        guard let first = arguments.first else { return arguments }
        if first == "help", let topic = arguments.dropFirst().first(where: { !$0.utf8.hasPrefix("-") }) {
            guard names(topic, commands) else { throw unknown(topic, commands) }
            return arguments
        }
        if names(first, commands) || first == "help" { return arguments }
        if first == "version" || first == "-V" { return ["--version"] }
        if first == "curl" || first == "wget" {
            return ["get"] + (try PastedCommand.translate(arguments.dropFirst(), of: first))
        }
        if first.utf8.hasPrefix("-") {
            return arguments.contains { isURL($0) } ? ["get"] + arguments : arguments
        }
        guard isURL(first) else { throw unknown(first, commands) }
        return ["get"] + arguments
    }

    private static func isURL(_ word: String) -> Bool {
        let word = word.lowercased()
        return word.utf8.hasPrefix("http://") || word.utf8.hasPrefix("https://")
    }

    // allow(bytes): a list of words.
    private static func names(_ word: String, _ commands: [String]) -> Bool { commands.contains(word) }

    private static func unknown(_ word: String, _ commands: [String]) -> UsageError {
        let meant =
            synonyms[word].flatMap { $0.first { names($0, commands) } }
            ?? commands.map { (name: $0, distance: distance(word, $0)) }
            .filter { $0.distance <= max(1, word.utf8.count / 3) }.min { $0.distance < $1.distance }?.name
        let quoted = TextError.quote(word)
        guard let meant else {
            return UsageError("there is no command \(quoted); to download, write ferry get URL")
        }
        return UsageError("there is no command \(quoted): did you mean ferry \(meant)?")
    }

    /// The commands, of which the first that exists is meant.
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

    /// The number of bytes to insert, remove, replace, or exchange with their neighbour.
    private static func distance(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        // Longer words are no slips of a command's name.
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
