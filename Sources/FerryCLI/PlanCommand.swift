import ArgumentParser
import FerryTerminal

/// `ferry plan`: what would happen.
struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Say what would happen: name, size, ranges, resumable or not; writes nothing.",
        discussion: """
            EXIT CODES: as those of ferry get.
            """)

    @Argument(help: ArgumentHelp("The URL to ask about.", valueName: "url"))
    var url: String

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("The name that the file would get.", valueName: "file"))
    var output: String?

    @Option(
        name: [.customShort("d"), .customLong("dir")],
        help: ArgumentHelp("The directory that the file would go to (default: this one).", valueName: "dir"))
    var directory: String?

    @Flag(help: "Write one line of JSON.")
    var json = false

    @OptionGroup(title: "Server") var connection: ConnectionOptions

    /// The words as the planner takes them.
    var options: GetOptions {
        var options = GetOptions()
        options.items = [url]
        options.output = output
        options.directory = directory
        options.json = json
        connection.fill(&options)
        return options
    }
}
