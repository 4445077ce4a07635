import SystemPackage

/// The directories that a confined daemon must be able to write to, as known at its start. Pure.
struct ConfinementPlan: Sendable, Hashable {
    /// Private directories that the daemon cannot start without.
    var required: [String]
    /// Directories of settings and downloads. One that cannot be created is left out.
    var others: [String]

    /// - Parameters:
    ///   - sessions: Download directories of sessions.
    ///   - unfinished: Directories of unfinished downloads in the list.
    init(_ place: DaemonPaths, _ settings: DaemonSettings, sessions: [String], unfinished: [String]) {
        required = [place.state, Self.parent(of: place.socket)]
        others =
            [Self.parent(of: place.settings), settings.directory] + settings.allowedDirectories + sessions
            + unfinished
    }

    private static func parent(of path: String) -> String { FilePath(path).removingLastComponent().string }

    /// Removes duplicates and directories below another one; sorted.
    static func roots(of directories: [String]) -> [String] {
        let all = Set(directories)
        return all.filter { path in
            var above = FilePath(path)
            while above.removeLastComponent() { if all.contains(above.string) { return false } }
            return true
        }.sorted()
    }
}
