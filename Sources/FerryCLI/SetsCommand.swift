import ArgumentParser
import FerryTerminal

/// `ferry sets`: the sets of files that the daemon syncs.
struct SetsCommand: AsyncCommand {
    static let configuration = CommandConfiguration(
        commandName: "sets",
        abstract: "List the sets that the daemon syncs, or pause, resume, cancel or remove them.",
        usage: "ferry sets [pause|resume|cancel|remove SET...] [--json]",
        discussion: """
            resume also looks for changes of the source again. cancel deletes the partial data, and remove takes a set \
            off the list; both leave the complete files.

            EXAMPLES:
              ferry sync https://example.com/release-1.0/ release --daemon
              ferry sets
              ferry sets resume all
            """)

    @Argument(
        help: ArgumentHelp(
            "pause, resume, cancel or remove; without it the sets are listed.", valueName: "action"))
    var action: String?

    @Argument(help: ArgumentHelp("Identifiers, their beginnings, or all.", valueName: "set"))
    var sets: [String] = []

    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json) { try await $0.sets(action, sets) }
    }
}
