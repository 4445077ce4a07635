import ArgumentParser
import FerryTerminal

/// `ferry list`: lists the daemon's downloads.
struct ListCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the daemon's downloads in queue order.",
        usage: """
            ferry list [--state STATES] [--search TEXT] [--sort KEY] [--reverse]
                       [--limit N] [--session SESSION|all] [--json]
            """)

    @Option(
        help: ArgumentHelp(
            """
            Filter by state: waiting, downloading, verifying, paused, failed, completed, cancelled, separated by commas.
            """,
            valueName: "states"),
        completion: .list(["waiting", "downloading", "verifying", "paused", "failed", "completed", "cancelled"]))
    var state: String?

    @Option(help: ArgumentHelp("Filter by text in name, URL or label.", valueName: "text"))
    var search: String?

    @Option(
        help: ArgumentHelp("Sort by queue, added, name, size or state.", valueName: "key"),
        completion: .list(["queue", "added", "name", "size", "state"]))
    var sort = "queue"

    @Flag(help: "Reverse the order.")
    var reverse = false

    @Option(help: ArgumentHelp("Maximum number of downloads.", valueName: "n"))
    var limit: Int?

    @Flag(help: ArgumentHelp("Print the names alone, one per line.", visibility: .hidden))
    var names = false

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    var options: RemoteRun.ListOptions {
        var options = RemoteRun.ListOptions()
        options.states = state
        options.search = search
        options.sort = sort
        options.isReversed = reverse
        options.limit = limit
        options.areNames = names
        return options
    }

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) { try await $0.list(options) }
    }
}

/// `ferry show`: shows the details of downloads.
struct ShowCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show details and history of downloads.")

    @Argument(
        help: ArgumentHelp("Identifiers, unique prefixes, names, or all.", valueName: "download"),
        completion: .downloads)
    var downloads: [String]

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) { try await $0.show(downloads) }
    }
}

/// `ferry watch`: shows running downloads live.
struct WatchCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Watch downloads live; ends when the given downloads have ended.",
        discussion: """
            On a terminal: up, down, PgUp, PgDn, Home and End select, / searches, p pauses, r resumes, c cancels, d \
            removes, + and - change the daemon's limit, q quits.
            """)

    @Argument(
        help: ArgumentHelp("Identifiers, unique prefixes, or names (default: all).", valueName: "download"),
        completion: .downloads)
    var downloads: [String] = []

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) { try await $0.watch(downloads) }
    }
}
