import ArgumentParser

/// Whose downloads a command lists or picks.
struct SessionOption: ParsableArguments {
    @Option(help: ArgumentHelp("The downloads of an app, or all.", valueName: "session|all"))
    var session: String?
}
