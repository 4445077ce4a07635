import ArgumentParser
import FerryTerminal

/// `ferry list`: the daemon's downloads.
struct ListCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the daemon's downloads, in the order in which they run.")

    @Option(
        help: ArgumentHelp(
            "Only these: waiting, downloading, verifying, paused, failed, completed, cancelled; several with commas.",
            valueName: "states"))
    var state: String?

    @Option(help: ArgumentHelp("Only those with this text in their name, URL or label.", valueName: "text"))
    var search: String?

    @Option(help: ArgumentHelp("queue, added, name, size or state.", valueName: "by"))
    var sort = "queue"

    @Flag(help: "The last first.")
    var reverse = false

    @Option(help: ArgumentHelp("At most so many.", valueName: "n"))
    var limit: Int?

    @OptionGroup var whose: SessionOption
    @OptionGroup(title: "Output") var flags: RemoteFlags

    var options: RemoteRun.ListOptions {
        var options = RemoteRun.ListOptions()
        options.states = state
        options.search = search
        options.sort = sort
        options.isReversed = reverse
        options.limit = limit
        return options
    }

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json, session: whose.session) { try await $0.list(options) }
    }
}
