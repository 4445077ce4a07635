import ArgumentParser
import FerryTerminal

/// `ferry plan`: shows what a download would do.
struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show what a download would do, without writing anything: name, size, ranges, resumability.",
        discussion: """
            EXIT CODES: see ferry get --help.
            """)

    @Argument(help: ArgumentHelp("The URL to check.", valueName: "url"))
    var url: String

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("The file name to use.", valueName: "file"))
    var output: String?

    @Option(
        name: [.customShort("d"), .customLong("dir")],
        help: ArgumentHelp("The target directory (default: the current one).", valueName: "dir"))
    var directory: String?

    @Flag(help: "Write the result as one line of JSON.")
    var json = false

    @OptionGroup(title: "Server") var connection: ConnectionOptions

    /// The options for the planner.
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
