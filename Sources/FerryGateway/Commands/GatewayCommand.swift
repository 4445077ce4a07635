public import ArgumentParser
import FerryCore
import FerryTerminal

extension CommandGroup {
    /// The command of the gateway, among those for background downloads.
    public static var gateway: CommandGroup {
        CommandGroup(name: "Background downloads", subcommands: [GatewayCommand.self])
    }
}

/// `ferry gateway`: the cache of the daemon's gateway.
struct GatewayCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway",
        abstract: "Show, purge or verify the cache of the daemon's gateway.",
        usage: """
            ferry gateway [usage|list|verify] [--json]
            ferry gateway purge NAME...|--older-than TIME|--all
            """,
        discussion: """
            usage says how much the cache holds, and its limit; list shows its files, the most recently used \
            first. purge removes files that no client reads. verify reads every file and compares it with its digest: a \
            damaged one is removed, and fetched again when a client asks for it; the exit code is then 7.

            EXAMPLES:
              ferry gateway
              ferry gateway list
              ferry gateway purge --older-than 7d
              ferry gateway verify
            """)

    @Argument(
        help: ArgumentHelp("usage, list, purge or verify; without it the usage.", valueName: "action"),
        completion: .list(["usage", "list", "purge", "verify"]))
    var action: String?

    @Argument(
        help: ArgumentHelp("Names of files, identifiers, or their beginnings.", valueName: "name"),
        completion: .shellCommand("ferry gateway list --names 2>/dev/null"))
    var names: [String] = []

    @Option(
        help: ArgumentHelp("Purge files that have not been used for this time.", valueName: "time"),
        transform: { try DurationText.parse($0) })
    var olderThan: Duration?

    @Flag(help: "Purge all files.")
    var all = false

    @Flag(name: [.customShort("y"), .customLong("yes")], help: "Do not ask, even on a terminal.")
    var isSure = false

    /// Prints only the names, for a shell's completions.
    @Flag(name: .customLong("names"), help: .hidden)
    var areNames = false

    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json) {
            try await $0.gateway(
                action, RemoteRun.GatewayChoice(names: names, olderThan: olderThan, all: all, isSure: isSure),
                areNames: areNames)
        }
    }
}
