import ArgumentParser

/// The session whose downloads a command uses.
struct SessionOption: ParsableArguments {
    @Option(help: ArgumentHelp("Use the downloads of this app's session, or all.", valueName: "session|all"))
    var session: String?
}

extension CompletionKind {
    /// The names of the listed downloads.
    static var downloads: CompletionKind { .shellCommand("ferry list --names 2>/dev/null") }
}
