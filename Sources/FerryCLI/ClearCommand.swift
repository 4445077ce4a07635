import ArgumentParser
import FerryTerminal

/// `ferry clear`: removes ended downloads from the list.
struct ClearCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Remove ended downloads from the list.")

    @Argument(
        help: ArgumentHelp("State: completed, failed, cancelled or all.", valueName: "state"),
        completion: .list(["completed", "failed", "cancelled", "all"]))
    var which = "completed"

    @Flag(help: "Also delete finished files.")
    var deleteFiles = false

    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json) { try await $0.clear(which, deletingFiles: deleteFiles) }
    }
}
