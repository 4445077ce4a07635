import ArgumentParser
import FerryTerminal

/// `ferry clear`: those that have ended off the list.
struct ClearCommand: RemoteCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Take those that have ended off the list.")

    @Argument(help: ArgumentHelp("completed, failed, cancelled or all.", valueName: "which"))
    var which = "completed"

    @Flag(help: "Delete finished files too.")
    var deleteFiles = false

    @OptionGroup(title: "Output") var flags: RemoteFlags

    func act() async -> FerryTerminal.ExitCode {
        await Program.remote(Self.word, json: flags.json) { try await $0.clear(which, deletingFiles: deleteFiles) }
    }
}
