import SystemPackage

/// Where a daemon that is to be confined must be able to write, from what is known at its start. Pure.
struct ConfinementPlan: Sendable, Hashable {
    /// What the daemon cannot start without, each its user's alone.
    var required: [String]
    /// Where settings and downloads are: a directory that cannot be made is left out.
    var others: [String]

    /// - Parameters:
    ///   - sessions: Where downloads of sessions go.
    ///   - unfinished: Where unfinished downloads of the list go.
    init(_ place: DaemonPaths, _ settings: DaemonSettings, sessions: [String], unfinished: [String]) {
        required = [place.state, Self.parent(of: place.socket)]
        others =
            [Self.parent(of: place.settings), settings.directory] + settings.allowedDirectories + sessions
            + unfinished
    }

    private static func parent(of path: String) -> String { FilePath(path).removingLastComponent().string }

    /// Those that lie below no other one, in order, each once.
    static func roots(of directories: [String]) -> [String] {
        let all = Set(directories)
        return all.filter { path in
            var above = FilePath(path)
            while above.removeLastComponent() { if all.contains(above.string) { return false } }
            return true
        }.sorted()
    }
}
