import ArgumentParser

/// The session whose downloads a command uses.
struct SessionOption: ParsableArguments {
    @Option(help: ArgumentHelp("Use the downloads of this app's session, or all.", valueName: "session|all"))
    var session: String?
}

/// The downloads that a command applies to.
struct NamedDownloads: ParsableArguments {
    @Argument(
        help: ArgumentHelp("Identifiers, unique prefixes, names, or all.", valueName: "download"),
        completion: .downloads)
    var downloads: [String]

    @OptionGroup var session: SessionOption
}

/// Flags of commands that delete partial data.
struct DeletionFlags: ParsableArguments {
    @Flag(help: "Take unfinished ones off the list, but keep their part files; ferry get continues them.")
    var keep = false

    @Flag(name: [.customShort("y"), .long], help: "Do not ask, even on a terminal or when much is deleted.")
    var yes = false
}

extension CompletionKind {
    /// The names of the listed downloads.
    static var downloads: CompletionKind { .shellCommand("ferry list --names 2>/dev/null") }
}
